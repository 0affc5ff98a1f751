"""Checkpoints of tf_keras models: loads them, and savers of those that `load_weights` can read."""

import dataclasses
import re
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras

# The format of checkpoints on disk; TensorFlow publishes it as a protocol buffer only.
from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph

from estimator_train.engine.tf_internals import saver_entries
from estimator_train.keras.matching import OBJECT_GRAPH, SavedVariables, match_names
from estimator_train.keras.model_io import Optimizer, Structure, Trackable
from estimator_train.keras.tf_keras.blueprint import TfKerasBlueprint
from estimator_train.keras.tf_keras.graph_calls import keep_layer_classes, list_variables
from estimator_train.optimizers.base import (
    compute_slot_scale,
    find_inner_optimizer,
    find_saved_slot_names,
    find_slots,
    get_iterations,
    get_learning_rate,
    make_slots,
)
from estimator_train.optimizers.several_optimizers import list_optimizers
from estimator_train.run_config import RunConfig

_VALUE = "VARIABLE_VALUE"
_LOG = tf.get_logger()


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
                # Values of metrics belong to a call: the session of each one initializes them.
                if not isinstance(child, tf_keras.metrics.Metric):
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


def match_variables(
    model: tf_keras.Model, saved: SavedVariables, name_map: Mapping[str, str] | None
) -> dict[str, str]:
    """Maps the names of a model's variables, in its order, to names in a checkpoint.

    Raises:
      ValueError: A variable is not in the checkpoint.
    """
    names = _list_names(model)
    shapes = dict(zip(names, (tuple(v.shape) for v in list_variables(model)), strict=True))
    by_place = _pair_by_place(model, names, shapes, saved)
    return match_names(model.name, shapes, saved, name_map, by_place)


def load_variables(
    model: tf_keras.Model, saved: SavedVariables, matched: Mapping[str, str]
) -> None:
    """Loads a checkpoint into a model, and the state of its optimizer if it is compiled.

    Args:
      model: The model.
      saved: The variables of the checkpoint.
      matched: The result of `match_variables`.
    """
    names = list(matched.values())
    for variable, name in zip(list_variables(model), names, strict=True):
        variable.assign(saved.value(name))
    if getattr(model, "optimizer", None) is not None:
        _load_optimizer(model, saved, names)


def predict_checkpoint(
    model: tf_keras.Model, x: Structure, saved: SavedVariables, names: Mapping[str, str]
) -> list[np.ndarray]:
    """Returns the outputs of a model for one batch, in a graph with a checkpoint's variables.

    Args:
      model: The eager model. It does not change.
      x: Arrays, as the model takes them.
      saved: The variables of the checkpoint.
      names: Maps names of the model's variables, in their order, to names in the checkpoint.
    """
    blueprint = TfKerasBlueprint(model)
    with keep_layer_classes(), tf.Graph().as_default():
        built = blueprint.call(tf.nest.map_structure(tf.constant, x), training=False)
        keys = (saved.keys[name] for name in names.values())
        saver = tf.compat.v1.train.Saver(dict(zip(keys, list_variables(built.model), strict=True)))
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.tables_initializer())
            saver.restore(session, saved.path)
            return session.run([built.outputs[name] for name in built.names.names])


def _list_names(model: tf_keras.Model) -> list[str]:
    """Returns the names of a model's variables, and numbers equal names."""
    names: list[str] = []
    for variable in list_variables(model):
        plain = variable.name.partition(":")[0]
        seen = sum(name == plain or name.startswith(f"{plain}#") for name in names)
        names.append(f"{plain}#{seen}" if seen else plain)
    return names


def _pair_by_place(
    model: tf_keras.Model, names: list[str], wanted: Mapping[str, Any], saved: SavedVariables
) -> dict[str, str]:
    """Matches variables that have the same place in the model and in an object-based checkpoint."""
    if not saved.is_object_based:
        return {}
    theirs = {key: name for name, key in saved.keys.items()}
    places = list_keys(model)
    found = {}
    for name, variable in zip(names, list_variables(model), strict=True):
        other = theirs.get(places.get(id(variable), ""))
        if other is not None and saved.shapes[other] == wanted[name]:
            found[name] = other
    return found


def _load_optimizer(model: tf_keras.Model, saved: SavedVariables, names: list[str]) -> None:
    """Loads the optimizer's state; warns of slots that the checkpoint lacks."""
    position = {id(variable): i for i, variable in enumerate(list_variables(model))}
    absent = []
    optimizers = list_optimizers(model, model.optimizer)
    for optimizer, trained in optimizers:
        make_slots(optimizer, trained)
        for (slot, i), variable in find_slots(optimizer, trained).items():
            name = names[position[id(trained[i])]]
            found = find_saved_slot_names(optimizer, slot, name, saved.shapes)
            if found:
                scale = compute_slot_scale(optimizer, found[0])
                variable.assign(scale * saved.value(found[0]))
            else:
                absent.append(f"{slot} of {name}")
    if absent:
        _LOG.warning("%s has no optimizer state for %s.", saved.path, ", ".join(absent[:5]))
    _load_scalars([optimizer for optimizer, _ in optimizers], saved)


def _load_scalars(optimizers: Sequence[Optimizer], saved: SavedVariables) -> None:
    """Loads the counts of steps and the learning rates of one optimizer or of two."""
    counts = [name for name in saved.keys if name.endswith("/iteration")]
    step = int(saved.value(counts[0])) if counts else saved.global_step
    rates = [name for name in saved.keys if name.rpartition("/")[2] == "learning_rate"]
    for optimizer in optimizers:
        iterations, rate = get_iterations(optimizer), get_learning_rate(optimizer)
        if iterations is not None and step is not None:
            iterations.assign(step)
        inner = find_inner_optimizer(optimizer)
        if len(optimizers) > 1:  # The second of two with equal names has a number.
            scope = re.compile(
                rf"(?:^|/){re.escape(inner.get_config()['name'])}(?:_1)?/learning_rate$"
            )
            found = next(filter(scope.search, sorted(rates)), None)
        else:
            found = next(iter(rates), None)
        scheduled = getattr(inner, "_current_learning_rate", None) is not None
        if found is None or rate is None:
            continue
        rates.remove(found)
        if not scheduled:
            rate.assign(saved.value(found))
