"""Settings of a boosted trees model: the checked arguments of its estimator."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import tensorflow as tf

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
