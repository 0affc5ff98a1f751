"""`Pruning`: the sparsity of a step, and the operations that update masks and thresholds."""

import re
from collections.abc import Mapping
from typing import TypeVar

import tensorflow as tf

from tf_contrib._types import Step
from tf_contrib.model_pruning import updates
from tf_contrib.model_pruning.hparams import (
    check_hparams,
    get_pruning_hparams,
    parse_block_dims_map,
    parse_weight_sparsity_map,
)
from tf_contrib.model_pruning.masks import (
    Weights,
    apply_mask,
    get_masked_weights,
    get_masks,
    get_thresholds,
    get_weight_sparsity,
    get_weights,
)
from tf_contrib.training.hparams import HParams

# Programs import all of them from `tf.contrib.model_pruning.python.pruning`.
__all__ = [
    "Pruning",
    "apply_mask",
    "get_masked_weights",
    "get_masks",
    "get_pruning_hparams",
    "get_thresholds",
    "get_weight_sparsity",
    "get_weights",
]
_v1 = tf.compat.v1
_POOLING = ("AVG", "MAX")
_Value = TypeVar("_Value")


class Pruning:
    """Updates the masks of a graph, so that their share of zeros follows a schedule.

    Args:
      spec: Hyperparameters; `get_pruning_hparams()` by default.
      global_step: Global step; that of the graph by default.
      sparsity: Share of weights to mask, instead of the schedule of the hyperparameters.

    Raises:
      ValueError: A hyperparameter is outside of its range, or the graph has no global step.
    """

    def __init__(
        self,
        spec: HParams | None = None,
        global_step: Step | None = None,
        sparsity: tf.Tensor | float | None = None,
    ) -> None:
        self._spec = spec if spec is not None else get_pruning_hparams()
        check_hparams(self._spec)
        step = global_step if global_step is not None else _v1.train.get_global_step()
        if step is None:
            raise ValueError(
                "The graph has no global step: call tf.train.get_or_create_global_step() before "
                "Pruning, or pass global_step."
            )
        self._global_step = tf.cast(step, tf.int32)
        self._sparsity = sparsity if sparsity is not None else self._compute_sparsity()
        self._assign_ops: list[tf.Operation] = []
        with _v1.variable_scope(self._spec.name, reuse=_v1.AUTO_REUSE):
            self._last_update_step = _v1.get_variable(
                "last_mask_update_step",
                [],
                tf.int32,
                initializer=_v1.zeros_initializer(),
                trainable=False,
            )
        self._block_dims = [self._spec.block_height, self._spec.block_width]
        self._block_dims_map = parse_block_dims_map(self._spec.block_dims_map)
        self._weight_sparsity_map = parse_weight_sparsity_map(self._spec.weight_sparsity_map)

    def mask_update_op(self) -> tf.Operation:
        """Returns an operation that updates all masks and thresholds."""
        with tf.name_scope(self._spec.name):
            # Later calls share the updates of the first one, wherever that was.
            if not self._assign_ops:
                self._assign_ops = self._build_assignments()
            noted = _v1.assign(
                self._last_update_step, self._global_step, name="last_mask_update_step_assign"
            )
            with tf.control_dependencies([noted, *self._assign_ops]):
                _v1.logging.info("Updating masks.")
                return tf.no_op("mask_update")

    def conditional_mask_update_op(self) -> tf.Tensor:
        """Returns a boolean tensor that updates the masks if the global step requires an update."""
        spec, step = self._spec, self._global_step
        with tf.name_scope(spec.name):
            end = spec.end_pruning_step
            in_range = tf.logical_and(
                step >= spec.begin_pruning_step, tf.logical_or(step <= end, tf.constant(end < 0))
            )
            due = self._last_update_step + spec.pruning_frequency <= step
            needs_update = tf.logical_and(in_range, due)
        return _v1.cond(needs_update, self.mask_update_op, tf.no_op)

    def add_pruning_summaries(self) -> None:
        """Adds summaries of the sparsity, the masks and the thresholds to the graph."""
        scalar = _v1.summary.scalar
        with tf.name_scope(f"{self._spec.name}_summaries"):
            scalar("sparsity", self._sparsity)
            scalar("last_mask_update_step", self._last_update_step)
            for mask, threshold in zip(get_masks(), get_thresholds(), strict=True):
                scalar(f"{mask.op.name}/sparsity", tf.nn.zero_fraction(mask))
                scalar(f"{threshold.op.name}/threshold", threshold)

    def print_hparams(self) -> None:
        """Logs the hyperparameters as JSON."""
        _v1.logging.info(self._spec.to_json())

    def _compute_sparsity(self) -> tf.Tensor:
        """Computes the sparsity of the step: a polynomial of the share of steps that are done.

        Zhu and Gupta 2017, equation 1, with an exponent that can be chosen.
        """
        spec = self._spec
        begin, end = spec.sparsity_function_begin_step, spec.sparsity_function_end_step
        with tf.name_scope(spec.name):
            done = tf.cast(self._global_step - begin, tf.float32) / (end - begin)
            done = tf.minimum(1.0, tf.maximum(0.0, done))
            left = tf.pow(1 - done, spec.sparsity_function_exponent)
            change = tf.multiply(spec.initial_sparsity - spec.target_sparsity, left)
            return tf.add(change, spec.target_sparsity, name="sparsity")

    def _build_assignments(self) -> list[tf.Operation]:
        masks, thresholds = get_masks(), get_thresholds()
        if len(masks) != len(thresholds):
            raise ValueError(
                f"Number of masks {len(masks)} and number of thresholds {len(thresholds)} mismatch"
            )
        operations = []
        for weights, mask, threshold in zip(get_weights(), masks, thresholds, strict=False):
            if hasattr(weights, "as_tensor"):
                weights = weights.as_tensor()
            new_threshold, new_mask = self._compute_update(weights, threshold)
            operations += [_assign(threshold, new_threshold), _assign(mask, new_mask)]
        return operations

    def _compute_update(
        self, weights: Weights, threshold: tf.Variable
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Computes a threshold and a mask; weights of two dimensions are masked in blocks."""
        spec, squeezed = self._spec, tf.squeeze(weights)
        block = _find_match(
            self._block_dims_map, weights.op.name, "block_dims_map", self._block_dims
        )
        if squeezed.shape.rank != 2 or block == [1, 1]:
            sparsity = self._get_sparsity(weights.op.name)
            return updates.compute_mask(weights, threshold, sparsity, spec.threshold_decay)
        if spec.block_pooling_function not in _POOLING:
            raise ValueError(
                f"Unknown pooling function for block sparsity: {spec.block_pooling_function}"
            )
        shape = squeezed.shape
        block = [size if one == -1 else one for one, size in zip(block, shape, strict=True)]
        with tf.name_scope(f"{weights.op.name}_pruning_ops"):
            pooled = updates.pool_blocks(
                squeezed, block, spec.block_pooling_function, weights.op.name
            )
            # The patterns of sparsities see the name of this tensor, which contains the weights'.
            sparsity = self._get_sparsity(pooled.op.name)
            new_threshold, mask = updates.compute_mask(
                pooled, threshold, sparsity, spec.threshold_decay
            )
            mask = updates.expand_blocks(mask, block, shape)
        return new_threshold, tf.reshape(mask, weights.shape)

    def _get_sparsity(self, name: str) -> tf.Tensor | float:
        """Returns the sparsity of some weights at this step: it is scaled to their target."""
        target = _find_match(self._weight_sparsity_map, name, "weight_sparsity_map", None)
        if target is None:
            return self._sparsity
        return tf.multiply(self._sparsity, tf.divide(target, self._spec.target_sparsity))


def _find_match(
    values: Mapping[re.Pattern[str], _Value], name: str, setting: str, default: _Value
) -> _Value:
    """Returns the value of the only pattern that a name contains, or the default.

    Raises:
      ValueError: Several patterns match.
    """
    matches = [value for pattern, value in values.items() if pattern.search(name)]
    if len(matches) > 1:
        raise ValueError(f"Multiple matches in {setting} for weight {name}")
    return matches[0] if matches else default


def _assign(variable: tf.Variable, value: tf.Tensor) -> tf.Operation:
    """Assigns to a variable, or to all parts of one."""
    if not hasattr(variable, "as_tensor"):
        return _v1.assign(variable, value, name=f"{variable.op.name}_assign").op
    parts = list(variable)
    shapes = [part.shape.as_list() for part in parts]
    axis = next((i for i, size in enumerate(variable.get_shape()) if size != shapes[0][i]), 0)
    values = tf.split(value, [shape[axis] for shape in shapes], axis)
    assigned = [_assign(part, one) for part, one in zip(parts, values, strict=True)]
    return tf.group(*assigned, name=f"{variable.name}_group_assign")
