"""Variables with the trees of a model and the progress of training.

The nodes of a tree are numbered from the root, 0; the children of node n are 2n + 1 and 2n + 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

_v1 = tf.compat.v1
SCOPE = "boosted_trees"


class Trees(NamedTuple):
    """Some trees.

    Attributes:
      feature: Feature on which a node splits, int32 [trees, 2^depth - 1]; -1 for leaves.
      threshold: Last bucket of that feature whose examples go left, or for a split by value
        the only such bucket; int32 of the same shape, counted from the feature's first
        bucket.
      value: Value that a leaf adds to the logits, float32
        [trees, 2^(depth + 1) - 1, logits]; inner nodes keep the value that they had as leaves.
    """

    feature: Any
    threshold: Any
    value: Any


class Ensemble:
    """Variables of a model.

    They have rows for `n_trees` trees, or for more if the checkpoint has more.

    Attributes:
      trees: All trees, as variables; the growing tree follows the finished ones.
      gain: The decrease of the loss by each split, float32, of the shape of `trees.feature`.
      finished: Number of finished trees, int32.
      layers: Number of layers of the growing tree below its root, int32.
      attempted: Number of layers that training tried to add, int32; a layer may add no node.
      centering: Whether the bias is still being centered, bool.
      started: Whether there is a tree at all, bool.

    Args:
      n_trees: Number of trees to grow.
      max_depth: Number of layers of a tree below its root.
      logits: Number of logits.
      center_bias: Whether the bias is centered first.
    """

    def __init__(self, n_trees: int, max_depth: int, logits: int, center_bias: bool) -> None:
        inner = 2**max_depth - 1
        self.trees = Trees(
            _create_rows("feature", [n_trees, inner], tf.int32, -1),
            _create_rows("threshold", [n_trees, inner], tf.int32, 0),
            _create_rows("value", [n_trees, 2 * inner + 1, logits], tf.float32, 0.0),
        )
        self.gain = _create_rows("gain", [n_trees, inner], tf.float32, 0.0)
        with _v1.variable_scope(SCOPE, use_resource=True):
            self.finished = create_state_variable("finished_trees", [], tf.int32)
            self.layers = create_state_variable("layers_grown", [], tf.int32)
            self.attempted = create_state_variable("layers_attempted", [], tf.int32)
            self.centering = create_state_variable("center_bias_needed", [], tf.bool, center_bias)
            self.started = create_state_variable("started", [], tf.bool, False)
        self.n_trees, self.max_depth = n_trees, max_depth

    def read(self, begin: Any, end: Any) -> Trees:
        """Returns the trees from number `begin` up to `end`, or fewer if there are no more."""
        return Trees(*(variable[begin:end] for variable in self.trees))

    def count_rows(self) -> tf.Tensor:
        """Returns the number of trees that the variables have rows for, an int32 scalar."""
        return tf.shape(self.trees.feature.read_value())[0]

    def add_missing_rows(self) -> None:
        """Adds rows for all trees to grow, within a tf.function.

        The checkpoint of a model with fewer trees has fewer rows.
        """
        missing = tf.maximum(self.n_trees - self.count_rows(), 0)

        def pad() -> bool:
            for variable, value in zip((*self.trees, self.gain), (-1, 0, 0.0, 0.0), strict=True):
                more = tf.fill(tf.concat([[missing], variable.shape[1:]], 0), value)
                variable.assign(tf.concat([variable.read_value(), more], 0))
            return True

        tf.cond(missing > 0, pad, lambda: False)

    def is_finished(self, max_layers: int) -> tf.Tensor:
        """Returns whether training has ended.

        Args:
          max_layers: Maximum number of attempted layers.
        """
        return (self.finished >= self.n_trees) | (self.attempted > max_layers)


def is_shared(variable: tf.Variable) -> bool:
    """Returns whether a variable is on a task that the graph's devices name."""
    return tf.DeviceSpec.from_string(variable.device or "").job is not None


def run_exclusively(compute: Callable[[], tf.Tensor], variable: tf.Variable) -> tf.Tensor:
    """Returns a result that one worker at a time computes, within a tf.function.

    A worker that dies while it holds the lock releases it.

    Args:
      compute: Reads and assigns variables, and returns a tensor.
      variable: One of these variables; the lock is on its device.
    """
    if not is_shared(variable):
        return compute()
    with tf.device(variable.device):
        lock = tf.raw_ops.MutexLock(mutex=tf.raw_ops.MutexV2(shared_name=f"{SCOPE}/lock"))
    with tf.control_dependencies([lock]):
        result = tf.identity(compute())
    with tf.device(variable.device), tf.control_dependencies([result]):
        tf.raw_ops.ConsumeMutexLock(mutex_lock=lock)
    return result


def count_bytes(n_trees: int, max_depth: int, logits: int) -> int:
    """Returns how many bytes the variables of an `Ensemble` take."""
    inner = 2**max_depth - 1
    return n_trees * (inner * 12 + (2 * inner + 1) * 4 * logits)


def create_state_variable(
    name: str, shape: list[int], dtype: tf.DType, value: Any = 0
) -> tf.Variable:
    """Creates a variable in the current scope, which checkpoints save.

    Args:
      name: Its name.
      shape: Its shape.
      dtype: Its type.
      value: The first value of all its elements.
    """
    return _v1.get_variable(
        name, shape, dtype, _v1.constant_initializer(value), trainable=False, use_resource=True
    )


def _create_rows(name: str, shape: list[int], dtype: tf.DType, value: Any) -> tf.Variable:
    """Creates a variable whose number of rows may differ from the checkpoint's."""
    with tf.name_scope(f"{SCOPE}/"):
        return _v1.Variable(
            lambda: tf.fill(shape, tf.constant(value, dtype)),
            trainable=False,
            name=name,
            use_resource=True,
            shape=[None, *shape[1:]],
        )
