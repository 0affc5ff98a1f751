"""Settings of a boosted trees model: the checked arguments of its estimator."""

from __future__ import annotations

import dataclasses
import math
import os
from typing import Any

import tensorflow as tf

from estimator_train.canned.boosted_trees.ensemble import count_bytes

_LOG = tf.get_logger()
_PRUNING = ("none", "post", "pre")


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
