"""The variables in a checkpoint, by their names in the graph that wrote it."""

import dataclasses
import os
import re
from typing import Any, TypeAlias

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph

from estimator_train.engine.checkpoints.integrity import latest_checkpoint
from estimator_train.keras.checkpoints.object_checkpoints import OBJECT_GRAPH

_STEPS = ("global_step", "estimator_global_step")
# Names of optimizers and their scopes, within or at the end of a variable's name.
_OPTIMIZERS = (
    r"Adadelta|Adafactor|Adagrad|Adam|AdamW|Adamax|Ftrl|Lion|Momentum|Nadam|RMSProp|RMSprop|SGD"
    # Of Keras 3.
    r"|adadelta|adafactor|adagrad|adam|adamw|adamax|ftrl|lamb|lion|muon|nadam|rm_?sprop|sgd"
    r"|loss_scale_optimizer"
)
_OF_OPTIMIZERS = re.compile(
    rf"(^|/)(training|accumulated|current_loss_scale|good_steps|beta\d_power(_\d+)?"
    rf"|({_OPTIMIZERS})(_\d+)?)(/|$)"
)


# An Estimator, a model_dir or a path prefix.
Source: TypeAlias = Any


@dataclasses.dataclass(frozen=True)
class SavedVariables:
    """Variables of a checkpoint.

    Attributes:
      path: The checkpoint's path prefix.
      keys: Variable names to keys in the checkpoint.
      shapes: Variable names to shapes.
      is_object_based: Whether keys are the places of variables in a model.
    """

    path: str
    keys: dict[str, str]
    shapes: dict[str, tuple[int, ...]]
    is_object_based: bool

    def value(self, name: str) -> np.ndarray:
        """Returns a variable's value."""
        return tf.train.load_variable(self.path, self.keys[name])

    @property
    def of_models(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of models' variables, without steps and state of optimizers."""
        names = set(self.shapes)
        return {
            name: shape
            for name, shape in self.shapes.items()
            if name not in _STEPS
            and not _OF_OPTIMIZERS.search(name)
            # "kernel/ExponentialMovingAverage" belongs to "kernel".
            and not any(name[: m.start()] in names for m in re.finditer("/", name))
        }

    @property
    def global_step(self) -> int | None:
        """The number of training steps; None if the checkpoint does not have it."""
        return next((int(self.value(name)) for name in _STEPS if name in self.keys), None)


def _find_checkpoint(source: Source) -> str:
    """Returns the path prefix of a checkpoint."""
    latest = getattr(source, "latest_checkpoint", None)
    if latest is not None:
        found, where = latest(), f"the model_dir {source.model_dir}"
    else:
        path = where = os.fspath(source)
        is_prefix = tf.io.gfile.exists(f"{path}.index")
        found = path if is_prefix else latest_checkpoint(path)
    if not found:
        raise ValueError(
            f"There is no checkpoint in {where}. Give an Estimator that was trained, its "
            "model_dir, or the path of a checkpoint such as DIR/model.ckpt-1000."
        )
    return found


def read_saved_variables(source: Source) -> SavedVariables:
    """Reads which variables a checkpoint has.

    Args:
      source: An Estimator, a model_dir or a checkpoint's path prefix.

    Raises:
      ValueError: There is no checkpoint.
    """
    path = _find_checkpoint(source)
    shapes = {key: tuple(shape) for key, shape in tf.train.list_variables(path)}
    if OBJECT_GRAPH not in shapes:
        return SavedVariables(path, {name: name for name in shapes}, shapes, False)
    graph = TrackableObjectGraph.FromString(tf.train.load_variable(path, OBJECT_GRAPH))
    keys = {
        # A model that was saved by eager code has names of which several may be equal.
        attribute.full_name or attribute.checkpoint_key: attribute.checkpoint_key
        for node in graph.nodes
        for attribute in node.attributes
        if attribute.checkpoint_key in shapes
    }
    keys.update({key.split("/")[0]: key for key in shapes if key.split("/")[0] in _STEPS})
    return SavedVariables(path, keys, {name: shapes[key] for name, key in keys.items()}, True)
