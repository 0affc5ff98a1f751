"""The trees of a model: its checked settings, and the variables with the trees and the progress.

The nodes of a tree are numbered from the root, 0; the children of node n are 2n + 1 and 2n + 2.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

_v1 = tf.compat.v1
SCOPE = "boosted_trees"
_LOG = tf.get_logger()
_PRUNING = ("none", "post", "pre")


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


@dataclasses.dataclass(frozen=True)
class Settings:
    """Arguments of the estimators.

    Raises:
      ValueError: A number is out of range, or pruning_mode contradicts tree_complexity.
      TypeError: n_batches_per_layer is no whole number.
      AssertionError: train_in_memory with several batches for a layer.
    """

    n_batches_per_layer: int
    n_trees: int
    max_depth: int
    learning_rate: float
    l1_regularization: float
    l2_regularization: float
    tree_complexity: float
    min_node_weight: float
    center_bias: bool
    pruning_mode: str
    quantile_sketch_epsilon: float
    train_in_memory: bool = False

    def __post_init__(self) -> None:
        """Checks the numbers."""
        for name in ("n_trees", "max_depth", "learning_rate"):
            value = getattr(self, name)
            if not value > 0:
                raise ValueError(f"Expected {name} > 0, received: {value}")
        for name, value in (
            ("l1", self.l1_regularization),
            ("l2", self.l2_regularization),
            ("tree_complexity", self.tree_complexity),
            ("min_node_weight", self.min_node_weight),
        ):
            if not value >= 0:
                raise ValueError(f"Expected {name} >= 0, received: {value}")
        if not self.quantile_sketch_epsilon > 0:
            raise ValueError(
                "Expected quantile_sketch_epsilon > 0, received: "
                f"{self.quantile_sketch_epsilon}. 0.01 puts a numeric feature into 100 buckets."
            )
        self._check_pruning()
        self._check_batches()

    @property
    def batches(self) -> int:
        """Number of batches for a layer, at least 1."""
        return max(1, self.n_batches_per_layer)

    @property
    def numeric_buckets(self) -> int:
        """Number of buckets of a numeric column."""
        return max(1, math.ceil(1 / self.quantile_sketch_epsilon - 1e-9))

    @property
    def max_layers(self) -> int:
        """Number of layers after which training ends even if they added no node."""
        return 2 * self.n_trees * self.max_depth

    def check_logits(self, logits: int) -> None:
        """Checks that a model of several logits uses neither center_bias nor l1.

        Raises:
          ValueError: It uses center_bias.
          InvalidArgumentError: It uses l1.
        """
        if logits == 1:
            return
        if self.center_bias:
            raise ValueError("center_bias not yet support with n_classes > 2.")
        if self.l1_regularization:
            raise tf.errors.InvalidArgumentError(
                None,
                None,
                "l1 != 0 is not yet supported for multi-class regularization. The head has "
                f"{logits} logits; use l2_regularization.",
            )

    def check_size(self, buckets: int, logits: int) -> None:
        """Checks that the trees and the sums of a layer fit into this machine's memory.

        Args:
          buckets: Number of buckets of all features.
          logits: Number of logits.

        Raises:
          ValueError: They do not fit; the message names their size and that of the memory.
        """
        # Sums, running sums, sums of both sides, and gains.
        sums = 2 ** (self.max_depth - 1) * buckets * (logits + logits**2) * 8 * 6
        needed = count_bytes(self.n_trees, self.max_depth, logits) + sums
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if needed > memory:
            raise ValueError(
                f"max_depth={self.max_depth} takes {needed / 2**30:,.0f} GiB of memory for "
                f"{self.n_trees} trees of {buckets} buckets, and there are "
                f"{memory / 2**30:,.0f}. Each level doubles it: trees of 4 to 10 levels are usual."
            )

    def _check_pruning(self) -> None:
        if self.pruning_mode not in _PRUNING:
            raise ValueError(
                f"pruning_mode mode must be one of: {', '.join(_PRUNING)}. "
                f"Found: {self.pruning_mode}"
            )
        if self.pruning_mode == "none" and self.tree_complexity > 0:
            raise ValueError("Tree complexity have no effect unless pruning mode is chosen.")
        if self.pruning_mode != "none" and not self.tree_complexity > 0:
            raise ValueError("For pruning, tree_complexity must be positive.")

    def _check_batches(self) -> None:
        batches: Any = self.n_batches_per_layer
        if not hasattr(batches, "__index__"):
            raise TypeError(
                f"n_batches_per_layer must be a whole number of batches. Given: {batches!r}"
            )
        if self.train_in_memory and batches > 1:
            raise AssertionError(
                "When train_in_memory is enabled, input_fn should return the entire dataset as a "
                "single batch, and n_batches_per_layer should be set as 1."
            )
        if batches < 1:
            _LOG.warning(
                "n_batches_per_layer is %s: each batch makes a layer, as with 1. For layers of "
                "all the data, give the number of rows divided by the batch size.",
                batches,
            )
