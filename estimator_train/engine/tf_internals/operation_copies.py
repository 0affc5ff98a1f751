"""Copies of operations: those of one variable are a template for those of others.

Why internal: no public function creates an operation from attributes that are known.
"""

import enum
import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import tensorflow as tf
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.framework.device import MergeDevice
from tensorflow.python.util import tf_stack

# The types of the operations of a variable, after those of its initial value.
OF_VARIABLE = ["VarHandleOp", "VarIsInitializedOp", "AssignVariableOp", "ReadVariableOp"]
# Values in a variable that several variables may share.
_SHARED = (bool, type(None), enum.Enum, tf.TensorShape, tf.DType)
STORE = ("__variable_store",)
_SEEDS = ("seed", "seed2")
# Function from the name and the operations of a copy to its value of a member.
Member: TypeAlias = Callable[[str, list[tf.Operation]], Any]


class Node(NamedTuple):
    """Operation of a template.

    Attributes:
      type: The type of the operation.
      suffix: The operation's name after that of the slot.
      attributes: The attributes that all slots share, serialized.
      names: What follows the slot's name in attributes that contain it.
      is_colocated: Whether the operation is in the groups of the copy.
      is_seeded: Whether each operation has seeds of its own.
      inputs: The indices of the operations whose first outputs it takes.
    """

    type: str
    suffix: str
    attributes: dict[str, bytes]
    names: dict[str, str]
    is_colocated: bool
    is_seeded: bool
    inputs: list[int]


def list_graph_settings(graph: tf.Graph) -> list[Any]:
    """Returns the settings of a graph that change new operations."""
    return [
        *graph._device_functions_outer_to_inner,
        *(one for group in graph._control_dependencies_stack for one in group.control_inputs),
        graph._attr_scope_map,
        graph._op_to_kernel_label_map,
        graph._gradient_override_map,
        graph._gradient_function_map,
        graph._container,
        graph._default_original_op,
        graph._get_control_flow_context(),
        graph.finalized,
    ]


class GraphState:
    """State of a graph before a variable."""

    def __init__(self, graph: tf.Graph) -> None:
        self.graph = graph
        self.operations = len(graph.get_operations())
        self.names = dict(graph._names_in_use)
        self.collections = self.count_collections()
        self.variables = set(self._get_store())

    def _get_store(self) -> dict[str, Any]:
        stores = self.graph.get_collection_ref(STORE)
        return stores[0]._vars if stores else {}

    def count_collections(self) -> dict[Any, int]:
        """Returns the number of items of each collection."""
        graph = self.graph
        return {key: len(graph.get_collection_ref(key)) for key in graph.collections}

    def list_new_operations(self) -> list[tf.Operation]:
        """Returns the operations since then."""
        return self.graph.get_operations()[self.operations :]

    def list_new_names(self) -> dict[str, int]:
        """Returns the names since then, with the number of their uses."""
        names = self.graph._names_in_use
        return {name: names[name] for name in names if names[name] != self.names.get(name)}

    def list_new_variables(self) -> list[str]:
        """Returns the keys of the variables since then in the store of `get_variable`."""
        return [name for name in self._get_store() if name not in self.variables]

    def list_new_items(self) -> dict[Any, int]:
        """Returns the number of new items of the collections that have grown."""
        counts = self.count_collections().items()
        grown = {key: count - self.collections.get(key, 0) for key, count in counts}
        return {key: count for key, count in grown.items() if count}


def make_nodes(
    operations: list[tf.Operation], name: str, groups: Sequence[bytes]
) -> list[Node] | None:
    """Returns templates of the operations of a variable; None if one depends on others.

    Args:
      operations: The operations.
      name: The name of the variable.
      groups: The groups that operations may be in.
    """
    nodes = [_make_node(operation, name, operations, groups) for operation in operations]
    found = [node for node in nodes if node is not None]
    return found if len(found) == len(nodes) else None


def _make_node(
    operation: tf.Operation, name: str, operations: list[tf.Operation], groups: Sequence[bytes]
) -> Node | None:
    definition = operation.node_def
    if not operation.name.startswith(name) or operation.control_inputs or definition.device:
        return None
    if not all(tensor.op in operations and tensor.value_index == 0 for tensor in operation.inputs):
        return None
    attributes, names = {}, {}
    is_colocated = "_class" in definition.attr
    if is_colocated and list(definition.attr.pop("_class").list.s) != list(groups):
        return None
    is_seeded = all(seed in definition.attr for seed in _SEEDS)
    for key, value in definition.attr.items():
        if is_seeded and key in _SEEDS:
            continue
        text = value.s.decode(errors="replace")
        if text.startswith(name):
            names[key] = text.removeprefix(name)
        else:
            attributes[key] = value.SerializeToString()
    if any(name.encode() in value for value in attributes.values()):
        return None
    inputs = [operations.index(tensor.op) for tensor in operation.inputs]
    suffix = operation.name.removeprefix(name)
    return Node(operation.type, suffix, attributes, names, is_colocated, is_seeded, inputs)


def make_members(
    variable: Any, name: str, operations: list[tf.Operation]
) -> dict[str, Member] | None:
    """Returns functions that find the attributes of a copy; None if one cannot be copied.

    Args:
      variable: The variable that is the template.
      name: Its name.
      operations: Its operations.
    """
    values = vars(variable).items()
    members = {key: _make_member(value, name, operations) for key, value in values}
    found = {key: member for key, member in members.items() if member is not None}
    return found if len(found) == len(members) else None


def _make_member(value: Any, name: str, operations: list[tf.Operation]) -> Member | None:
    if isinstance(value, tf.Tensor) and value.op in operations and value.value_index == 0:
        index = operations.index(value.op)
        return lambda _, copies: copies[index].outputs[0]
    if isinstance(value, tf.Operation) and value in operations:
        index = operations.index(value)
        return lambda _, copies: copies[index]
    if isinstance(value, str):
        if value.startswith(name):
            suffix = value.removeprefix(name)
            return lambda new_name, _: new_name + suffix
        return lambda *_: value
    return (lambda *_: value) if isinstance(value, _SHARED) else None


def add_operations(
    graph: tf.Graph,
    nodes: list[Node],
    name: str,
    groups: Sequence[bytes],
    op_seed: int | None = None,
) -> list[tf.Operation]:
    """Adds the operations of a copy to a graph.

    Args:
      graph: The default graph.
      nodes: The templates.
      name: The name of the copy.
      groups: The groups of those that are colocated.
      op_seed: The seed of operations with seeds; None for one that the graph chooses.
    """
    colocated = tf.compat.v1.AttrValue(list={"s": groups}).SerializeToString()
    stack = tf_stack.extract_stack(stacklevel=2)
    operations: list[tf.Operation] = []
    with graph._mutation_lock():
        for node in nodes:
            attributes = dict(node.attributes)
            for key, suffix in node.names.items():
                text = tf.compat.v1.AttrValue(s=(name + suffix).encode())
                attributes[key] = text.SerializeToString()
            if node.is_colocated:
                attributes["_class"] = colocated
            if node.is_seeded:  # The graph may count operations to choose them.
                seeds = tf.compat.v1.get_seed(op_seed)
                for key, seed in zip(_SEEDS, seeds, strict=True):
                    attributes[key] = tf.compat.v1.AttrValue(i=seed or 0).SerializeToString()
            inputs = [operations[index].outputs[0] for index in node.inputs]
            operation = _add(graph, node.type, name + node.suffix, inputs, attributes, stack)
            operation._device_code_locations = graph._snapshot_device_function_stack_metadata()
            operation._colocation_code_locations = (
                graph._snapshot_colocation_stack_metadata() if node.is_colocated else {}
            )
            operations.append(operation)
    return operations


def _add(
    graph: tf.Graph,
    operation_type: str,
    name: str,
    inputs: Sequence[tf.Tensor],
    attributes: Mapping[str, bytes],
    stack: Any,
    device: str = "",
) -> tf.Operation:
    """Adds an operation to a graph whose lock the caller holds."""
    with graph._c_graph.get() as c_graph:
        new = pywrap_tf_session.TF_NewOperation(c_graph, operation_type, name)
    if device:
        pywrap_tf_session.TF_SetDevice(new, device)
    for tensor in inputs:
        pywrap_tf_session.TF_AddInput(new, tensor._as_tf_output())
    for key, value in attributes.items():
        pywrap_tf_session.TF_SetAttrValueProto(new, key, value)
    finished = pywrap_tf_session.TF_FinishOperation(new)
    pywrap_tf_session.TF_SetOpStackTrace(finished, stack)
    return tf.Operation._from_c_op(finished, graph)


class Pattern:
    """Operation of which copies with other inputs are added, in surroundings of its own.

    Its name must be the one that TensorFlow chooses, after its type.

    Args:
      operation: The operation.
    """

    def __init__(self, operation: tf.Operation) -> None:
        definition = operation.node_def
        self._type, self._device = operation.type, definition.device
        self._attributes = {k: value.SerializeToString() for k, value in definition.attr.items()}
        self._locations = operation._device_code_locations
        last_name = operation.name.rpartition("/")[2]
        self.can_be_copied = (
            not operation.control_inputs
            and "_class" not in definition.attr
            and re.fullmatch(rf"{self._type}(_\d+)?", last_name) is not None
        )

    def copy(self, inputs: Sequence[tf.Tensor]) -> tf.Operation:
        """Adds a copy with other inputs and the next free name to the default graph."""
        graph = tf.compat.v1.get_default_graph()
        name = graph.unique_name(self._type)
        stack = tf_stack.extract_stack(stacklevel=2)
        with graph._mutation_lock():
            copy = _add(graph, self._type, name, inputs, self._attributes, stack, self._device)
            copy._device_code_locations = self._locations
            copy._colocation_code_locations = {}
        return copy


def add_plain_operation(operation_type: str, inputs: Sequence[tf.Tensor]) -> tf.Operation:
    """Adds an operation without attributes to a default graph without settings, such as devices."""
    graph = tf.compat.v1.get_default_graph()
    name = graph.unique_name(operation_type)
    stack = tf_stack.extract_stack(stacklevel=2)
    with graph._mutation_lock():
        operation = _add(graph, operation_type, name, inputs, {}, stack)
        operation._device_code_locations = graph._snapshot_device_function_stack_metadata()
        operation._colocation_code_locations = {}
    return operation


def copies_are_alike(graph: tf.Graph) -> bool:
    """Returns whether operations that differ only in inputs have the same attributes and device."""
    settings = [one for one in list_graph_settings(graph) if not isinstance(one, MergeDevice)]
    return not any(settings) and not list(graph._colocation_stack.peek_objs())


def set_members(
    variable: Any,
    members: dict[str, Member],
    handle_data: Any,
    name: str,
    operations: list[tf.Operation],
) -> None:
    """Sets the attributes of a copy and of its handle.

    Args:
      variable: The copy.
      members: Functions that find its attributes.
      handle_data: The shape and the type of the variable, as its handle has them.
      name: Its name.
      operations: Its operations.
    """
    for key, member in members.items():
        vars(variable)[key] = member(name, operations)
    handle = variable.handle
    handle._handle_data = handle_data
    handle._parent_trackable = weakref.ref(variable)
    handle._name = f"{name}:0"
    handle._unique_id = name
