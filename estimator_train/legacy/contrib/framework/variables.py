"""Variables of `tf.contrib.framework`, and how they are found."""

import re
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.framework.arg_scope import add_arg_scope

_v1 = tf.compat.v1
_Keys = _v1.GraphKeys


@add_arg_scope
def variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: Any = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = tf.VariableAggregation.NONE,
) -> Any:
    """A variable of the current scope; see `tf.get_variable`."""
    dtype = dtype or tf.float32
    collections = list(dict.fromkeys(collections or [_Keys.GLOBAL_VARIABLES]))
    given = dict(locals())
    with _v1.device(given.pop("device") or ""):
        return _v1.get_variable(**given)


@add_arg_scope
def model_variable(
    name: str,
    shape: Any = None,
    dtype: Any = tf.float32,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: Any = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = tf.VariableAggregation.NONE,
) -> Any:
    """A variable that is one of the model's; see `variable`."""
    collections = [*(collections or []), _Keys.GLOBAL_VARIABLES, _Keys.MODEL_VARIABLES]
    return variable(**locals())


def local_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: Any = None,
) -> Any:
    """A variable that is not saved."""
    return _untrained(_Keys.LOCAL_VARIABLES, initial_value, validate_shape, name, use_resource)


def global_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: Any = None,
) -> Any:
    """A variable that is saved and not trained."""
    return _untrained(_Keys.GLOBAL_VARIABLES, initial_value, validate_shape, name, use_resource)


def _untrained(
    collection: str, value: Any, validate_shape: bool, name: str | None, use_resource: Any
) -> Any:
    return _v1.Variable(
        value,
        trainable=False,
        collections=[collection],
        validate_shape=validate_shape,
        name=name,
        use_resource=use_resource,
    )


def add_model_variable(var: Any) -> None:
    """Counts a variable among the model's."""
    if all(var is not other for other in _v1.get_collection(_Keys.MODEL_VARIABLES)):
        _v1.add_to_collection(_Keys.MODEL_VARIABLES, var)


def get_variables(
    scope: Any = None, suffix: str | None = None, collection: str = _Keys.GLOBAL_VARIABLES
) -> list[Any]:
    """The variables of a collection.

    Args:
      scope: A scope, or a pattern that their names begin with.
      suffix: What their names end with, or how that begins.
      collection: The collection.
    """
    start = (scope if scope is None or isinstance(scope, str) else scope.name) or ""
    pattern = start if suffix is None else f"{start}.*{suffix if ':' in suffix else suffix + ':'}"
    return list(_v1.get_collection(collection, pattern or None))


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """The model's variables; see `get_variables`."""
    return get_variables(scope, suffix, _Keys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """The variables that are not saved; see `get_variables`."""
    return get_variables(scope, suffix, _Keys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """The variables that are trained; see `get_variables`."""
    return get_variables(scope, suffix, _Keys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """The variables whose names end so."""
    return get_variables(scope, suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """The variables whose last part of the name is this; one that has no other is in all scopes."""
    return get_variables(scope, f"/{given_name}:|^{given_name}:")


def get_unique_variable(var_op_name: str) -> Any:
    """The variable of this name.

    Raises:
      ValueError: There is none, or more than one.
    """
    found = [v for v in get_variables(var_op_name) if v.op.name == var_op_name]
    if len(found) != 1:
        raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")
    return found[0]


def get_variable_full_name(var: Any) -> str:
    """The name of a variable in checkpoints."""
    return str(var.op.name)


def get_variables_to_restore(
    include: Sequence[str] | None = None, exclude: Sequence[str] | None = None
) -> list[Any]:
    """Variables by the scopes that are in and those that are out.

    Args:
      include: Scopes; by default all.
      exclude: Scopes.

    Raises:
      TypeError: One of them is no list or tuple.
    """
    for name, scopes in ("include", include), ("exclude", exclude):
        if scopes is not None and not isinstance(scopes, (list, tuple)):
            raise TypeError(f"{name} is provided but is not a list or a tuple.")
    inside = [None] if include is None else list(include)
    found = {v.op.name: v for scope in inside for v in get_variables(scope)}
    out = {v.op.name for scope in exclude or () for v in get_variables(scope)}
    return [v for name, v in found.items() if name not in out]


def filter_variables(
    var_list: Sequence[Any],
    include_patterns: Sequence[str] | None = None,
    exclude_patterns: Sequence[str] | None = None,
    reg_search: bool = True,
) -> list[Any]:
    """Variables by patterns of their names, which end with `:0`.

    Args:
      var_list: The variables.
      include_patterns: Those that one of them is for; by default all.
      exclude_patterns: Not those that one of them is for.
      reg_search: Whether a pattern is looked for in the whole name, or at its beginning.
    """
    matches = re.search if reg_search else re.match

    def is_one_of(var: Any, patterns: Sequence[str]) -> bool:
        return any(matches(pattern, var.name) for pattern in patterns)

    inside = [v for v in var_list if include_patterns is None or is_one_of(v, include_patterns)]
    return [v for v in inside if not is_one_of(v, exclude_patterns or ())]
