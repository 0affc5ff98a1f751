"""Variables of `tf.contrib.framework`: how to create and how to find them."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import (
    Collections,
    DType,
    Initializer,
    Regularizer,
    Scope,
    Shape,
    TensorLike,
)
from tf_contrib.framework.arg_scope import add_arg_scope

_v1 = tf.compat.v1
_Keys = _v1.GraphKeys


@add_arg_scope
def variable(
    name: str,
    shape: Shape | None = None,
    dtype: DType | None = None,
    initializer: Initializer | TensorLike | None = None,
    regularizer: Regularizer | None = None,
    trainable: bool = True,
    collections: Collections | None = None,
    caching_device: str | Callable[[tf.Operation], str] | None = None,
    device: str | Callable[[tf.Operation], str] | None = None,
    partitioner: Callable[..., Sequence[int]] | None = None,
    custom_getter: Callable[..., tf.Variable] | None = None,
    use_resource: bool | None = None,
    synchronization: tf.VariableSynchronization = tf.VariableSynchronization.AUTO,
    aggregation: tf.VariableAggregation = tf.VariableAggregation.NONE,
) -> tf.Variable:
    """Gets or creates a variable in the current scope; see `tf.get_variable`.

    `custom_getter` is called instead of `tf.get_variable`: the getter that a custom getter of a
    scope receives is one.
    """
    dtype = dtype or tf.float32
    collections = list(dict.fromkeys(collections or [_Keys.GLOBAL_VARIABLES]))
    arguments = dict(locals())
    for other in ("name", "device", "custom_getter"):
        del arguments[other]
    with _v1.device(device or ""):
        if custom_getter is None:
            return _v1.get_variable(name, **arguments)
        return custom_getter(name, reuse=_v1.get_variable_scope().reuse, **arguments)


@add_arg_scope
def model_variable(
    name: str,
    shape: Shape | None = None,
    dtype: DType = tf.float32,
    initializer: Initializer | TensorLike | None = None,
    regularizer: Regularizer | None = None,
    trainable: bool = True,
    collections: Collections | None = None,
    caching_device: str | Callable[[tf.Operation], str] | None = None,
    device: str | Callable[[tf.Operation], str] | None = None,
    partitioner: Callable[..., Sequence[int]] | None = None,
    custom_getter: Callable[..., tf.Variable] | None = None,
    use_resource: bool | None = None,
    synchronization: tf.VariableSynchronization = tf.VariableSynchronization.AUTO,
    aggregation: tf.VariableAggregation = tf.VariableAggregation.NONE,
) -> tf.Variable:
    """Gets or creates a variable and adds it to MODEL_VARIABLES; see `variable`."""
    collections = [*(collections or []), _Keys.GLOBAL_VARIABLES, _Keys.MODEL_VARIABLES]
    return variable(**locals())


def local_variable(
    initial_value: TensorLike,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> tf.Variable:
    """Creates a variable that checkpoints do not contain."""
    return _create_untrained_variable(
        _Keys.LOCAL_VARIABLES, initial_value, validate_shape, name, use_resource
    )


def global_variable(
    initial_value: TensorLike,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> tf.Variable:
    """Creates a variable that is saved but not trained."""
    return _create_untrained_variable(
        _Keys.GLOBAL_VARIABLES, initial_value, validate_shape, name, use_resource
    )


def _create_untrained_variable(
    collection: str,
    value: TensorLike,
    validate_shape: bool,
    name: str | None,
    use_resource: bool | None,
) -> tf.Variable:
    return _v1.Variable(
        value,
        trainable=False,
        collections=[collection],
        validate_shape=validate_shape,
        name=name,
        use_resource=use_resource,
    )


def add_model_variable(var: tf.Variable) -> None:
    """Adds a variable to MODEL_VARIABLES if it is not there."""
    if all(var is not other for other in _v1.get_collection(_Keys.MODEL_VARIABLES)):
        _v1.add_to_collection(_Keys.MODEL_VARIABLES, var)


def get_variables(
    scope: Scope | None = None, suffix: str | None = None, collection: str = _Keys.GLOBAL_VARIABLES
) -> list[Any]:
    """Returns the variables of a collection.

    Args:
      scope: Variable scope, or a regular expression that matches the start of the names.
      suffix: End of the names; without a colon, end of the operations' names.
      collection: Name of the collection.
    """
    prefix = (scope if scope is None or isinstance(scope, str) else scope.name) or ""
    pattern = prefix if suffix is None else f"{prefix}.*{suffix if ':' in suffix else suffix + ':'}"
    return list(_v1.get_collection(collection, pattern or None))


def get_model_variables(scope: Scope | None = None, suffix: str | None = None) -> list[Any]:
    """Returns the variables of the model; see `get_variables`."""
    return get_variables(scope, suffix, _Keys.MODEL_VARIABLES)


def get_local_variables(scope: Scope | None = None, suffix: str | None = None) -> list[Any]:
    """Returns the variables that checkpoints do not contain; see `get_variables`."""
    return get_variables(scope, suffix, _Keys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Scope | None = None, suffix: str | None = None) -> list[Any]:
    """Returns the trainable variables; see `get_variables`."""
    return get_variables(scope, suffix, _Keys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Scope | None = None) -> list[Any]:
    """Returns the variables whose names end with a suffix."""
    return get_variables(scope, suffix)


def get_variables_by_name(given_name: str, scope: Scope | None = None) -> list[Any]:
    """Returns the variables of a name, which is the last part of their full name."""
    return get_variables(scope, f"/{given_name}:|^{given_name}:")


def get_unique_variable(var_op_name: str) -> tf.Variable:
    """Returns the variable of a full name.

    Raises:
      ValueError: There is no such variable, or more than one.
    """
    matches = [v for v in get_variables(var_op_name) if v.op.name == var_op_name]
    if len(matches) != 1:
        raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")
    return matches[0]


def get_variable_full_name(var: tf.Variable) -> str:
    """Returns the name of a variable in checkpoints."""
    return str(var.op.name)


def get_variables_to_restore(
    include: Sequence[str] | None = None, exclude: Sequence[str] | None = None
) -> list[Any]:
    """Returns the variables below some scopes and not below others.

    Args:
      include: Scopes to include; all by default.
      exclude: Scopes to exclude.

    Raises:
      TypeError: include or exclude is neither a list nor a tuple.
    """
    for name, scopes in ("include", include), ("exclude", exclude):
        if scopes is not None and not isinstance(scopes, (list, tuple)):
            raise TypeError(f"{name} is provided but is not a list or a tuple.")
    included = [None] if include is None else list(include)
    by_name = {v.op.name: v for scope in included for v in get_variables(scope)}
    excluded_names = {v.op.name for scope in exclude or () for v in get_variables(scope)}
    return [v for name, v in by_name.items() if name not in excluded_names]


def filter_variables(
    var_list: Sequence[Any],
    include_patterns: Sequence[str] | None = None,
    exclude_patterns: Sequence[str] | None = None,
    reg_search: bool = True,
) -> list[Any]:
    """Filters variables by regular expressions on their names, which end with `:0`.

    Args:
      var_list: Variables.
      include_patterns: Patterns of which one must match; by default all variables are included.
      exclude_patterns: Patterns of which none may match.
      reg_search: Whether a pattern may match anywhere in a name instead of at its start.
    """
    matches = re.search if reg_search else re.match

    def matches_any(var: tf.Variable, patterns: Sequence[str]) -> bool:
        return any(matches(pattern, var.name) for pattern in patterns)

    included = [v for v in var_list if include_patterns is None or matches_any(v, include_patterns)]
    return [v for v in included if not matches_any(v, exclude_patterns or ())]
