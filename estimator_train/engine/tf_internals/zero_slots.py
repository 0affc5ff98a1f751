"""Slots of optimizers that begin as zeros: TensorFlow makes the first of each shape, copies follow.

A slot takes 3.5 ms of TensorFlow's Python code: a variable, its initial value, its assignment, its
read and its check. The slots of one shape differ only in names, so that the operations of the first
one are a template for the others. A slot whose surroundings are unusual, such as a device function,
a custom getter or a strategy, is made by TensorFlow.

Why internal: optimizers create slots by a function of a private module.
"""

import functools
import weakref
from typing import Any, NamedTuple, TypeAlias

import tensorflow as tf
from tensorflow.python.ops import init_ops, resource_variable_ops
from tensorflow.python.training import slot_creator

from estimator_train.engine.tf_internals import operation_copies
from estimator_train.engine.tf_internals.operation_copies import (
    OF_VARIABLE,
    STORE,
    GraphState,
    Member,
    Node,
    list_graph_settings,
)

# The types of operations of a slot; a zero of many elements is filled.
_ZEROS = (["Const"], ["Const", "Const", "Fill"])
_VARIABLES = tf.compat.v1.GraphKeys.GLOBAL_VARIABLES


class _Template(NamedTuple):
    """Slot of which copies are made.

    Attributes:
      nodes: Its operations.
      names: Names that the graph has used for it, without its own.
      members: The attributes of the variable; for operations and tensors, functions that find those
        of a copy.
      handle_data: The shape and the type of the variable, as its handle has them.
      store_suffix: The slot's key in the store of variables, after its name.
    """

    nodes: list[Node]
    names: list[str]
    members: dict[str, Member]
    handle_data: Any
    store_suffix: str


_Templates: TypeAlias = dict[Any, _Template | None]
_templates: weakref.WeakKeyDictionary[tf.Graph, _Templates] = weakref.WeakKeyDictionary()


def copy_zero_slots(graph: tf.Graph) -> None:
    """Makes the slots of a graph that begin as zeros copies of the first one of their shape."""
    _replace_creation()
    _templates.setdefault(graph, {})


@functools.cache
def _replace_creation() -> None:
    create = slot_creator._create_slot_var

    @functools.wraps(create)
    def create_slot_variable(
        primary: Any,
        value: Any,
        scope: str,
        validate_shape: bool,
        shape: Any,
        dtype: Any,
        **way: Any,
    ) -> Any:
        graph = tf.compat.v1.get_default_graph()
        templates = _templates.get(graph)
        arguments = primary, value, scope, validate_shape, shape, dtype
        if templates is None or not _is_usual(graph, *arguments[:-1]):
            return create(*arguments, **way)
        # `as_list` gives integers also where old programs turned on TensorFlow 1's dimensions.
        key = tuple(shape.as_list()), tf.as_dtype(dtype).base_dtype
        if key not in templates:
            before = GraphState(graph)
            slot = create(*arguments, **way)
            templates[key] = _make_template(before, slot, primary)
            return slot
        slot = _copy(graph, templates[key], primary)
        return create(*arguments, **way) if slot is None else slot

    slot_creator._create_slot_var = create_slot_variable


def _is_usual(
    graph: tf.Graph, primary: Any, value: Any, scope: str, validate_shape: bool, shape: Any
) -> bool:
    """Returns whether slots of one shape differ only in names."""
    return (
        type(value) is init_ops.Zeros
        and type(primary) is resource_variable_ops.ResourceVariable
        and scope == ""
        and validate_shape
        and isinstance(shape, tf.TensorShape)
        and shape.is_fully_defined()
        and not any(_list_settings(graph))
        and not tf.distribute.has_strategy()
        and primary._save_slice_info is None
        and not primary.device
        and getattr(primary, "_xla_sharding", None) is None
        and "_XlaSharding" not in primary.op.node_def.attr
        and _find_groups(graph) == set(primary.op.colocation_groups())
    )


def _list_settings(graph: tf.Graph) -> list[Any]:
    """Returns the settings of a graph and its variable scope that change new variables."""
    scope = tf.compat.v1.get_variable_scope()
    of_scope = [scope.custom_getter, scope.partitioner, scope.regularizer]
    of_scope += [scope.caching_device, scope.constraint, scope.reuse]
    return [*of_scope, *graph._variable_creator_stack, *list_graph_settings(graph)]


def _find_groups(graph: tf.Graph) -> set[bytes] | None:
    """Returns the groups in which the graph would place an operation; None with a device too."""
    operations = list(graph._colocation_stack.peek_objs())
    if any(operation.device for operation in operations):
        return None
    # The stack also has an object for the variable, which is in no group.
    finds = [getattr(operation, "colocation_groups", lambda: ()) for operation in operations]
    return {group for find in finds for group in find()}


def _make_template(before: GraphState, slot: Any, primary: Any) -> _Template | None:
    """Returns a template of a new slot; None if it is not what all slots are."""
    name = slot.handle.op.name
    operations = before.list_new_operations()
    names, keys = before.list_new_names(), before.list_new_variables()
    if (
        name != tf.compat.v1.get_variable_scope().name
        or [operation.type for operation in operations] not in (z + OF_VARIABLE for z in _ZEROS)
        or before.list_new_items() != {_VARIABLES: 1}
        or len(keys) != 1
        or not keys[0].startswith(name)
        or set(names.values()) != {1}
        or not all(found.startswith(f"{name.lower()}/") for found in names)
    ):
        return None
    nodes = operation_copies.make_nodes(operations, name, primary.op.colocation_groups())
    members = operation_copies.make_members(slot, name, operations)
    if nodes is None or members is None:
        return None
    store_suffix = keys[0].removeprefix(name)
    short_names = [found.removeprefix(name.lower()) for found in names]
    return _Template(nodes, short_names, members, slot.handle._handle_data, store_suffix)


def _copy(graph: tf.Graph, template: _Template | None, primary: Any) -> Any:
    """Returns a copy of a template's slot in the current variable scope; None if it cannot be."""
    name = tf.compat.v1.get_variable_scope().name
    in_use, [store] = graph._names_in_use, graph.get_collection_ref(STORE)
    if template is None or name + template.store_suffix in store._vars:
        return None
    names = [name.lower() + suffix for suffix in template.names]
    if name.lower() not in in_use or any(found in in_use for found in names):
        return None
    groups = primary.op.colocation_groups()
    operations = operation_copies.add_operations(graph, template.nodes, name, groups)
    in_use.update(dict.fromkeys(names, 1))
    slot = resource_variable_ops.ResourceVariable.__new__(resource_variable_ops.ResourceVariable)
    operation_copies.set_members(slot, template.members, template.handle_data, name, operations)
    graph.add_to_collection(_VARIABLES, slot)
    store._vars[name + template.store_suffix] = slot
    return slot
