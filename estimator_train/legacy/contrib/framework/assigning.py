"""Values of variables from checkpoints and arrays, of `tf.contrib.framework`."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.legacy.contrib.framework.variables import get_unique_variable

_v1 = tf.compat.v1


def assign_from_checkpoint(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False
) -> tuple[Any, dict[Any, Any]]:
    """An operation that sets variables from a checkpoint, and what to feed it.

    Args:
      model_path: The checkpoint.
      var_list: Variables, or a dict of names in the checkpoint to variables.
      ignore_missing_vars: Leave variables out that the checkpoint does not have.

    Raises:
      ValueError: It has no such variable, or one of another shape.
    """
    reader = tf.train.load_checkpoint(model_path)
    values = {}
    for name, var in _by_name(var_list, reader, ignore_missing_vars).items():
        if not reader.has_tensor(name):
            raise ValueError(f"Checkpoint is missing variable [{name}]")
        value = reader.get_tensor(name)
        if list(value.shape) != var.shape.as_list():
            raise ValueError(
                f"Total size of new array must be unchanged for {name} lh_shape: "
                f"[{value.shape}], rh_shape: [{var.shape}]"
            )
        values[var] = value
    return _assigned(values)


def assign_from_checkpoint_fn(
    model_path: str,
    var_list: Any,
    ignore_missing_vars: bool = False,
    reshape_variables: bool = False,
) -> Callable[[Any], None] | None:
    """A function of a session that sets variables from a checkpoint; see `assign_from_checkpoint`.

    Returns:
      The function; None where the checkpoint has none of the variables, and may lack them.

    Raises:
      ValueError: There are no variables.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    chosen = _by_name(var_list, tf.train.load_checkpoint(model_path), ignore_missing_vars)
    if not chosen:
        return None
    saver = _v1.train.Saver(chosen, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)


def assign_from_values(var_names_to_values: Mapping[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """An operation that sets variables by their names, and what to feed it.

    Raises:
      ValueError: There is no such variable, or the value is of another size.
    """
    values = {}
    for name, value in var_names_to_values.items():
        var = get_unique_variable(name)
        values[var] = np.reshape(value, var.shape.as_list())
    return _assigned(values)


def assign_from_values_fn(var_names_to_values: Mapping[str, Any]) -> Callable[[Any], Any]:
    """A function of a session that sets variables by their names."""
    operation, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(operation, feeds)


def _assigned(values: Mapping[Any, Any]) -> tuple[Any, dict[Any, Any]]:
    feeds = {_v1.placeholder(v.dtype.base_dtype, v.shape): value for v, value in values.items()}
    return tf.group(*(_v1.assign(v, f) for v, f in zip(values, feeds, strict=True))), feeds


def _by_name(var_list: Any, reader: Any, ignore_missing: bool) -> dict[str, Any]:
    named = var_list if isinstance(var_list, Mapping) else {v.op.name: v for v in var_list}
    if not ignore_missing:
        return dict(named)
    return {name: var for name, var in named.items() if reader.has_tensor(name)}
