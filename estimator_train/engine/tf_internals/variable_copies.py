"""Variables of a model: TensorFlow makes the first two of each kind, copies follow.

A variable takes 4 ms of TensorFlow's Python code: its initial value, handle, assignment, read and
check. Variables of one shape, type and initializer differ only in names and seeds, so that the
operations of the second one are a template for the others. A variable with another initializer than
TensorFlow 1's, or in unusual surroundings, is made by TensorFlow.

The checks whether variables have values differ only in names too.

Why internal: `get_variable` creates variables by a method of a private class.
"""

import functools
import re
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import tensorflow as tf
from tensorflow.python.ops import init_ops, resource_variable_ops, state_ops

from estimator_train.engine.tf_internals import operation_copies
from estimator_train.engine.tf_internals.operation_copies import (
    OF_VARIABLE,
    GraphState,
    Member,
    Node,
    list_graph_settings,
)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*(/[A-Za-z0-9_.-]+)*")
# Types whose values are equal if their texts are.
_PLAIN = (bool, int, float, str, type(None), tf.DType)


class _Template(NamedTuple):
    """Variable of which copies are made.

    Attributes:
      nodes: Its operations.
      names: Names that the graph has used for it, after its own.
      members: Functions that find the attributes of a copy.
      handle_data: The shape and the type of the variable, as its handle has them.
      collections: The collections that it is in.
    """

    nodes: list[Node]
    names: list[str]
    members: dict[str, Member]
    handle_data: Any
    collections: list[Any]


# In place of the template of a kind that has one variable.
_SEEN_ONCE = _Template([], [], {}, None, [])
_Templates: TypeAlias = dict[Any, _Template | None]
_templates: weakref.WeakKeyDictionary[tf.Graph, _Templates] = weakref.WeakKeyDictionary()


class _UnknownSettingError(TypeError):
    """Error for a setting whose equality is unknown."""


def copy_variables(graph: tf.Graph) -> None:
    """Makes the variables of a graph copies of the second one of their kind, and checks fast."""
    _replace_creation()
    _replace_checks()
    _templates.setdefault(graph, {})


@functools.cache
def _replace_creation() -> None:
    create = resource_variable_ops.ResourceVariable._init_from_args

    @functools.wraps(create)
    def init_from_args(self: Any, initial_value: Any = None, **settings: Any) -> None:
        graph = tf.compat.v1.get_default_graph()
        templates = _templates.get(graph)
        if templates is None or not _is_usual(graph, self):
            create(self, initial_value, **settings)
            return
        key = _make_key(initial_value, settings)
        name = _find_name(graph, settings.get("name"))
        if key is None or name is None or name.lower() in graph._names_in_use:
            create(self, initial_value, **settings)
        elif key not in templates:  # Many kinds have one variable, as tables of columns.
            create(self, initial_value, **settings)
            templates[key] = _SEEN_ONCE
        elif templates[key] is _SEEN_ONCE:
            before = GraphState(graph)
            create(self, initial_value, **settings)
            templates[key] = _make_template(before, self, name)
        elif not _copy(graph, templates[key], self, name, initial_value.func):
            create(self, initial_value, **settings)

    resource_variable_ops.ResourceVariable._init_from_args = init_from_args


@functools.cache
def _replace_checks() -> None:
    """Makes the checks of `report_uninitialized_variables` fast, two for each variable.

    Why internal: that function calls one of a private module.
    """
    check = state_ops.is_variable_initialized

    @functools.wraps(check)
    def is_variable_initialized(ref: Any, name: str | None = None) -> tf.Tensor:
        graph = tf.compat.v1.get_default_graph()
        if (
            name is not None
            or graph not in _templates
            or not _is_usual(graph, ref)
            or ref.graph is not graph
        ):
            return check(ref, name)
        return operation_copies.add_plain_operation("VarIsInitializedOp", [ref.handle]).outputs[0]

    state_ops.is_variable_initialized = is_variable_initialized


def _is_usual(graph: tf.Graph, variable: Any) -> bool:
    """Returns whether variables of one kind, and their checks, differ only in names and seeds."""
    return (
        type(variable) is resource_variable_ops.ResourceVariable
        and not any(list_graph_settings(graph))
        and not list(graph._colocation_stack.peek_objs())
        and not tf.distribute.has_strategy()
    )


def _make_key(initial_value: Any, settings: dict[str, Any]) -> Any:
    """Returns what the variables of one kind share; None if that is unknown."""
    if type(initial_value) is not functools.partial:
        return None
    initializer = initial_value.func
    if type(initializer).__module__ != init_ops.__name__:
        return None
    shared = {key: value for key, value in settings.items() if key != "name"}
    try:
        own = vars(initializer), initial_value.args, initial_value.keywords, shared
        return type(initializer), _freeze(own)
    except (_UnknownSettingError, TypeError):
        return None


def _freeze(value: object) -> Any:
    """Returns a text or a tuple that equal settings share.

    Raises:
      _UnknownSettingError: The setting has another type.
    """
    if isinstance(value, dict):
        return tuple((key, _freeze(one)) for key, one in sorted(value.items()))
    if isinstance(value, (list, tuple)):
        return tuple(map(_freeze, value))
    if isinstance(value, tf.TensorShape):
        return ("shape", repr(value))
    if type(value) in _PLAIN or isinstance(value, _ENUMS):
        return (type(value), repr(value))
    raise _UnknownSettingError(type(value))


_ENUMS = (tf.VariableSynchronization, tf.VariableAggregation, tf.compat.v1.VariableAggregation)


def _find_name(graph: tf.Graph, name: Any) -> str | None:
    """Returns the name of a new variable if it is not in use; None for an unusual name."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return None
    return f"{graph._name_stack}/{name}" if graph._name_stack else name


def _make_template(before: GraphState, variable: Any, name: str) -> _Template | None:
    """Returns a template of a new variable; None if it is not what all variables are."""
    operations, names = before.list_new_operations(), before.list_new_names()
    collections = before.list_new_items()
    of_variable = operations[-len(OF_VARIABLE) :]
    if (
        variable.handle.op.name != name
        or [operation.type for operation in of_variable] != OF_VARIABLE
        or set(collections.values()) != {1}
        or any(before.graph.get_collection_ref(key)[-1] is not variable for key in collections)
        or set(names.values()) != {1}
        or not all(found == name.lower() or found.startswith(f"{name.lower()}/") for found in names)
    ):
        return None
    nodes = operation_copies.make_nodes(operations, name, [_make_group(name)])
    members = operation_copies.make_members(variable, name, operations)
    if nodes is None or members is None:
        return None
    suffixes = [found.removeprefix(name.lower()) for found in names]
    data = variable.handle._handle_data
    return _Template(nodes, suffixes, members, data, list(collections))


def _make_group(name: str) -> bytes:
    return f"loc:@{name}".encode()


def _copy(
    graph: tf.Graph,
    template: _Template | None,
    variable: Any,
    name: str,
    initializer: Callable[..., tf.Tensor],
) -> bool:
    """Makes a variable a copy of a template's; returns False if it cannot be one."""
    in_use = graph._names_in_use
    if template is None:
        return False
    names = [name.lower() + suffix for suffix in template.names]
    if any(found in in_use for found in names):
        return False
    op_seed = getattr(initializer, "seed", None)
    groups = [_make_group(name)]
    operations = operation_copies.add_operations(graph, template.nodes, name, groups, op_seed)
    in_use.update(dict.fromkeys(names, 1))
    operation_copies.set_members(variable, template.members, template.handle_data, name, operations)
    graph.add_to_collections(template.collections, variable)
    return True
