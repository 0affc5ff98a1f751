"""Savers of object-based checkpoints, which Keras can load with `load_weights`."""

import dataclasses
from collections import deque
from typing import Any

import tensorflow as tf
import tf_keras

# The format of checkpoints on disk; TensorFlow publishes it as a protocol buffer only.
from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph

from estimator_train.engine.tf_internals import saver_entries
from estimator_train.keras.graph.structures import Trackable
from estimator_train.run_config import RunConfig

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_VALUE = "VARIABLE_VALUE"


class ObjectBasedSaver(tf.compat.v1.train.Saver):
    """Saver that names a Keras model's variables by their places in the model."""


def make_object_based_saver(
    model: tf_keras.Model,
    optimizer: Trackable | None,
    global_step: tf.Variable,
    config: RunConfig,
    checks_shapes: bool = True,
) -> ObjectBasedSaver:
    """Returns a Saver of a model's variables under their places in the model.

    Args:
      model: A Keras model of the default graph.
      optimizer: The optimizer of the graph, or None if the graph does not train.
      global_step: The variable that counts training steps.
      config: A RunConfig, for the number of checkpoints to keep.
      checks_shapes: Whether restoring a value of another shape is an error.
    """
    root = {**_list_children(model), "estimator_global_step": global_step}
    if optimizer is not None:
        root["optimizer"] = optimizer
    graph = _ObjectGraph(model, root)
    for slots in _list_slotted(optimizer):
        graph.add_slots(slots)

    def build(strategy: tf.distribute.Strategy) -> ObjectBasedSaver:
        entries = [
            saver_entries.CheckpointEntry.from_variable(key, variable, checks_shapes)
            for key, variable in graph.variables.items()
        ]
        proto = graph.proto.SerializeToString(deterministic=True)
        entries.append(saver_entries.CheckpointEntry.from_constant(OBJECT_GRAPH, proto))
        return ObjectBasedSaver(
            entries,
            sharded=True,
            max_to_keep=config.keep_checkpoint_max,
            keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
            save_relative_paths=True,
        )

    # Only outside of its replicas is a mirrored variable read and assigned with all its copies.
    context = tf.distribute.get_replica_context()
    return context.merge_call(build) if context else build(tf.distribute.get_strategy())


def list_keys(model: tf_keras.Model) -> dict[int, str]:
    """Returns ids of an eager model's variables to their keys in checkpoints."""
    graph = _ObjectGraph(model, _list_children(model))
    return {id(variable): key for key, variable in graph.variables.items()}


@dataclasses.dataclass
class _Node:
    number: int
    path: str
    value: Any


class _ObjectGraph:
    """The objects that can be reached from a model, each by its shortest path.

    Args:
      model: The model.
      root: Parts of the model by name, and the parts that only checkpoints have.

    Attributes:
      proto: The graph in the format of checkpoints.
      variables: Keys in checkpoints to variables.
    """

    def __init__(self, model: tf_keras.Model, root: dict[str, Trackable]) -> None:
        self.proto = TrackableObjectGraph()
        self.variables: dict[str, tf.Variable] = {}
        self._nodes: dict[int, _Node] = {}
        self._queue: deque[tuple[_Node, dict[str, Any]]] = deque()
        self._queue.append((self._add("", model), root))
        while self._queue:
            node, children = self._queue.popleft()
            for name, child in children.items():
                self._link(node, name, child)

    def _link(self, parent: _Node, name: str, child: Trackable) -> None:
        node = self._nodes.get(id(child))
        if node is None:
            escaped = name.replace(".", "..").replace("/", ".S")
            node = self._add(f"{parent.path}/{escaped}".lstrip("/"), child)
            self._queue.append((node, _list_children(child)))
        self.proto.nodes[parent.number].children.add(node_id=node.number, local_name=name)

    def _add(self, path: str, value: Trackable) -> _Node:
        node = _Node(len(self.proto.nodes), path, value)
        self._nodes[id(value)] = node
        entry = self.proto.nodes.add()
        if isinstance(value, tf.Variable):
            key = f"{path}/.ATTRIBUTES/{_VALUE}"
            full_name = value.name.partition(":")[0]
            entry.attributes.add(name=_VALUE, full_name=full_name, checkpoint_key=key)
            self.variables[key] = value
        return node

    def add_slots(self, optimizer: Trackable) -> None:
        """Adds the slots that an optimizer has for the variables.

        Args:
          optimizer: A legacy or v1 optimizer that is part of the graph.
        """
        owner = self._nodes[id(optimizer)]
        slotted = [node for node in self._nodes.values() if isinstance(node.value, tf.Variable)]
        for name in sorted(optimizer.get_slot_names()):
            for node in slotted:
                slot = _find_slot(optimizer, node.value, name)
                if slot is None:
                    continue
                slot_node = self._add(f"{node.path}/.OPTIMIZER_SLOT/{owner.path}/{name}", slot)
                self.proto.nodes[owner.number].slot_variables.add(
                    slot_name=name,
                    original_variable_node_id=node.number,
                    slot_variable_node_id=slot_node.number,
                )


def _list_children(value: Trackable) -> dict[str, Trackable]:
    return tf.train.TrackableView(value).children(value)


def _list_slotted(optimizer: Trackable | None) -> list[Trackable]:
    """Returns the optimizer with slots: this one, or an optimizer of tf.compat.v1.train inside."""
    candidates = (optimizer, getattr(optimizer, "optimizer", None))
    return [candidate for candidate in candidates if hasattr(candidate, "get_slot_names")][:1]


def _find_slot(optimizer: Trackable, variable: tf.Variable, name: str) -> Any:
    try:
        return optimizer.get_slot(variable, name)
    except KeyError:
        return None
