"""`tf.contrib.framework`: variables by name, checkpoints, arg_scope."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.arg_scope import (
    add_arg_scope,
    arg_scope,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)

_v1 = tf.compat.v1
_Keys = _v1.GraphKeys
_MODEL_VARIABLES = _Keys.MODEL_VARIABLES
__all__ = [
    "add_arg_scope",
    "add_model_variable",
    "arg_scope",
    "arg_scoped_arguments",
    "assert_global_step",
    "assign_from_checkpoint",
    "assign_from_checkpoint_fn",
    "assign_from_values",
    "assign_from_values_fn",
    "current_arg_scope",
    "filter_variables",
    "get_model_variables",
    "get_or_create_global_step",
    "get_trainable_variables",
    "get_unique_variable",
    "get_variables",
    "get_variables_by_name",
    "get_variables_by_suffix",
    "get_variables_to_restore",
    "has_arg_scope",
    "local_variable",
    "model_variable",
    "variable",
]

assert_global_step = _v1.train.assert_global_step
create_global_step = _v1.train.create_global_step
get_global_step = _v1.train.get_global_step
get_or_create_global_step = _v1.train.get_or_create_global_step
init_from_checkpoint = _v1.train.init_from_checkpoint
list_variables = tf.train.list_variables
load_checkpoint = tf.train.load_checkpoint
load_variable = tf.train.load_variable
is_tensor = tf.is_tensor
sort = tf.sort
argsort = tf.argsort
nest = tf.nest
CriticalSection = tf.CriticalSection
zero_initializer = _v1.zeros_initializer


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
    **unused: Any,
) -> Any:
    """A variable of the current scope; see `tf.get_variable`."""
    collections = list(collections or [_Keys.GLOBAL_VARIABLES])
    with _v1.device(device or ""):
        return _v1.get_variable(
            name,
            shape=shape,
            dtype=dtype or tf.float32,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=list(dict.fromkeys(collections)),
            caching_device=caching_device,
            partitioner=partitioner,
            custom_getter=custom_getter,
            use_resource=use_resource,
        )


@add_arg_scope
def model_variable(name: str, shape: Any = None, **arguments: Any) -> Any:
    """A variable that is one of the model's; see `variable`."""
    collections = list(arguments.pop("collections", None) or [])
    collections += [_Keys.GLOBAL_VARIABLES, _MODEL_VARIABLES]
    return variable(name, shape, collections=collections, **arguments)


def local_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: Any = None,
) -> Any:
    """A variable that is not saved."""
    return _v1.Variable(
        initial_value,
        trainable=False,
        collections=[_Keys.LOCAL_VARIABLES],
        validate_shape=validate_shape,
        name=name,
        use_resource=use_resource,
    )


def add_model_variable(var: Any) -> None:
    """Counts a variable among the model's."""
    if all(var is not other for other in _v1.get_collection(_MODEL_VARIABLES)):
        _v1.add_to_collection(_MODEL_VARIABLES, var)


def get_variables(
    scope: Any = None, suffix: str | None = None, collection: str = _Keys.GLOBAL_VARIABLES
) -> list[Any]:
    """The variables of a collection, by their scope and the end of their names."""
    found = _v1.get_collection(collection, _scope_name(scope))
    if suffix is not None:
        end = re.compile(f".*{re.escape(suffix)}(:0)?$")
        found = [v for v in found if end.match(v.op.name)]
    return list(found)


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """The model's variables; see `get_variables`."""
    return get_variables(scope, suffix, _MODEL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """The variables that are trained; see `get_variables`."""
    return get_variables(scope, suffix, _Keys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """The variables whose names end so."""
    return get_variables(scope, suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """The variables whose last part of the name is this."""
    return get_variables(scope, f"/{given_name}") + [
        v for v in get_variables(scope) if v.op.name == given_name
    ]


def get_unique_variable(var_op_name: str) -> Any:
    """The variable of this name.

    Raises:
      ValueError: There is none, or more than one.
    """
    found = [v for v in get_variables(var_op_name) if v.op.name == var_op_name]
    if len(found) != 1:
        raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")
    return found[0]


def get_variables_to_restore(
    include: Sequence[str] | None = None, exclude: Sequence[str] | None = None
) -> list[Any]:
    """Variables by the scopes that are in and those that are out.

    Args:
      include: Scopes; by default all.
      exclude: Scopes.
    """
    scopes = [None] if include is None else list(include)
    found = {v.op.name: v for scope in scopes for v in get_variables(scope)}
    out = {v.op.name for scope in exclude or () for v in get_variables(scope)}
    return [v for name, v in found.items() if name not in out]


def filter_variables(
    var_list: Sequence[Any],
    include_patterns: Sequence[str] | None = None,
    exclude_patterns: Sequence[str] | None = None,
    reg_search: bool = True,
) -> list[Any]:
    """Variables by patterns of their names."""
    matches = re.search if reg_search else re.match

    def is_in(var: Any) -> bool:
        inside = not include_patterns or any(matches(p, var.op.name) for p in include_patterns)
        return inside and not any(matches(p, var.op.name) for p in exclude_patterns or ())

    return [var for var in var_list if is_in(var)]


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
        value = reader.get_tensor(name)
        if list(value.shape) != var.shape.as_list():
            raise ValueError(
                f"Total size of new array must be unchanged for {name} lh_shape: "
                f"[{value.shape}], rh_shape: [{var.shape}]"
            )
        values[var] = value
    feeds = {_v1.placeholder(v.dtype.base_dtype, v.shape): value for v, value in values.items()}
    return tf.group(*(_v1.assign(v, f) for v, f in zip(values, feeds, strict=True))), feeds


def assign_from_checkpoint_fn(
    model_path: str,
    var_list: Any,
    ignore_missing_vars: bool = False,
    reshape_variables: bool = False,
) -> Callable[[Any], None] | None:
    """A function of a session that sets variables from a checkpoint; see `assign_from_checkpoint`.

    Returns:
      The function; None where no variable is left.
    """
    reader = tf.train.load_checkpoint(model_path)
    chosen = _by_name(var_list, reader, ignore_missing_vars)
    if not chosen:
        return None
    saver = _v1.train.Saver(chosen, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)


def assign_from_values(var_names_to_values: Mapping[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """An operation that sets variables by their names, and what to feed it."""
    variables = {name: get_unique_variable(name) for name in var_names_to_values}
    holders = {n: _v1.placeholder(v.dtype.base_dtype, v.shape) for n, v in variables.items()}
    operation = tf.group(*(_v1.assign(variables[name], holders[name]) for name in variables))
    return operation, {holders[name]: value for name, value in var_names_to_values.items()}


def assign_from_values_fn(var_names_to_values: Mapping[str, Any]) -> Callable[[Any], Any]:
    """A function of a session that sets variables by their names."""
    operation, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(operation, feeds)


def _by_name(var_list: Any, reader: Any, ignore_missing: bool) -> dict[str, Any]:
    named = var_list if isinstance(var_list, Mapping) else {v.op.name: v for v in var_list}
    if not ignore_missing:
        return dict(named)
    return {name: var for name, var in named.items() if reader.has_tensor(name)}


def _scope_name(scope: Any) -> str | None:
    return scope if scope is None or isinstance(scope, str) else scope.name
