"""Functions of `tf.contrib.framework` that assign variables from checkpoints and arrays."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tf_contrib.framework.variables import get_unique_variable

_v1 = tf.compat.v1


def assign_from_checkpoint(
    model_path: str,
    var_list: Sequence[tf.Variable] | Mapping[str, tf.Variable],
    ignore_missing_vars: bool = False,
) -> tuple[Any, dict[Any, Any]]:
    """Returns an operation that assigns variables from a checkpoint, and its feed_dict.

    Args:
      model_path: Path of the checkpoint.
      var_list: Variables, or a dict of names in the checkpoint to variables.
      ignore_missing_vars: Whether to skip variables that the checkpoint lacks.

    Raises:
      ValueError: The checkpoint lacks a variable or has it in another shape.
    """
    reader = tf.train.load_checkpoint(model_path)
    values = {}
    for name, var in _select_variables(var_list, reader.has_tensor, ignore_missing_vars).items():
        if not reader.has_tensor(name):
            raise ValueError(f"Checkpoint is missing variable [{name}]")
        value = reader.get_tensor(name)
        if list(value.shape) != var.shape.as_list():
            raise ValueError(
                f"Total size of new array must be unchanged for {name} lh_shape: "
                f"[{value.shape}], rh_shape: [{var.shape}]"
            )
        values[var] = value
    return _assign_with_feeds(values)


def assign_from_checkpoint_fn(
    model_path: str,
    var_list: Sequence[tf.Variable] | Mapping[str, tf.Variable],
    ignore_missing_vars: bool = False,
    reshape_variables: bool = False,
) -> Callable[[Any], None] | None:
    """Returns a function that assigns variables from a checkpoint in a session.

    Args:
      model_path: Path of the checkpoint.
      var_list: Variables, or a dict of names in the checkpoint to variables.
      ignore_missing_vars: Whether to skip variables that the checkpoint lacks.
      reshape_variables: Whether values of another shape are reshaped.

    Returns:
      The function, or None if missing variables are ignored and the checkpoint has no other.

    Raises:
      ValueError: There are no variables.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    reader = tf.train.load_checkpoint(model_path)
    variables = _select_variables(var_list, reader.has_tensor, ignore_missing_vars)
    if not variables:
        return None
    saver = _v1.train.Saver(variables, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)


def assign_from_values(var_names_to_values: Mapping[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """Returns an operation that assigns values to variables by name, and its feed_dict.

    Raises:
      ValueError: There is no variable of a name, or a value has another size.
    """
    values = {}
    for name, value in var_names_to_values.items():
        var = get_unique_variable(name)
        values[var] = np.reshape(value, var.shape.as_list())
    return _assign_with_feeds(values)


def assign_from_values_fn(var_names_to_values: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Returns a function that assigns values to variables by name in a session."""
    operation, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(operation, feeds)


def _assign_with_feeds(values: Mapping[Any, Any]) -> tuple[Any, dict[Any, Any]]:
    feeds = {_v1.placeholder(v.dtype.base_dtype, v.shape): value for v, value in values.items()}
    return tf.group(*(_v1.assign(v, f) for v, f in zip(values, feeds, strict=True))), feeds


def _select_variables(
    var_list: Sequence[tf.Variable] | Mapping[str, tf.Variable],
    has_tensor: Callable[[str], bool],
    ignore_missing: bool,
) -> dict[str, tf.Variable]:
    by_name = var_list if isinstance(var_list, Mapping) else {v.op.name: v for v in var_list}
    if not ignore_missing:
        return dict(by_name)
    return {name: var for name, var in by_name.items() if has_tensor(name)}
