"""Graph form of the optimizer with which a Keras model was compiled."""

import contextlib
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.engine.tf_internals.modes import enter_eager_mode
from estimator_train.optimizers.base import (
    AnyOptimizer,
    GraphOptimizer,
    KerasOptimizer,
    TrainStep,
    drop_missing_gradients,
    register_schedule,
)
from estimator_train.optimizers.new_optimizers import NewOptimizer, find_refusal

_LOG = tf.get_logger()
# Equivalent to their legacy forms, whose names are in checkpoints of tf.estimator.
_WITH_LEGACY_FORM = (
    tf_keras.optimizers.Adadelta,
    tf_keras.optimizers.Adagrad,
    tf_keras.optimizers.Adam,
    tf_keras.optimizers.Adamax,
    tf_keras.optimizers.Ftrl,
    tf_keras.optimizers.Nadam,
    tf_keras.optimizers.RMSprop,
    tf_keras.optimizers.SGD,
)


def make_graph_optimizer(
    optimizer: AnyOptimizer, *, original_names: bool = True, accumulated_steps: int = 1
) -> GraphOptimizer:
    """Reads the settings of the optimizer that a model was compiled with.

    Args:
      optimizer: One of `tf_keras.optimizers`, `tf_keras.optimizers.legacy` or
        `tf.compat.v1.train`, a LossScaleOptimizer around one, or Keras's wrapper of a v1 optimizer.
        It is never changed.
      original_names: Whether a new optimizer with a legacy form takes that form, so that its
        variables have the names that they have in checkpoints of tf.estimator; if not, it computes
        exactly what `fit` does.
      accumulated_steps: Number of steps whose mean gradient makes one update of the weights.

    Raises:
      ValueError: A setting cannot be read, or has no effect in a graph.
      TypeError: It is not such an optimizer.
    """
    wrapped = getattr(optimizer, "optimizer", None)
    if isinstance(optimizer, tf.compat.v1.train.Optimizer):
        wrapped = optimizer
    if isinstance(wrapped, tf.compat.v1.train.Optimizer):
        _check_can_accumulate(wrapped, accumulated_steps)
        return _V1(wrapped)
    loss_scaling = None
    if hasattr(optimizer, "inner_optimizer"):
        loss_scaling = {
            name: getattr(optimizer, name)
            for name in ("dynamic", "initial_scale", "dynamic_growth_steps")
        }
        optimizer = optimizer.inner_optimizer
    if original_names and accumulated_steps == 1 and _has_legacy_form(optimizer):
        _warn_of_ignored_settings(optimizer)
        optimizer = _convert(optimizer)
    if isinstance(optimizer, tf_keras.optimizers.legacy.Optimizer):
        _check_can_accumulate(optimizer, accumulated_steps)
        return _Legacy(optimizer, loss_scaling)
    if isinstance(optimizer, tf_keras.optimizers.Optimizer):
        return NewOptimizer(optimizer, loss_scaling, accumulated_steps)
    raise TypeError(
        f"The Keras model was compiled with the optimizer {optimizer!r} of type "
        f"{type(optimizer).__name__}. Use one of tf_keras.optimizers or tf.compat.v1.train."
    )


def _warn_of_ignored_settings(optimizer: AnyOptimizer) -> None:
    if optimizer.weight_decay:
        _LOG.warning(
            "%s(weight_decay=%s): an Estimator trains without the decay, which it cannot do for "
            "Nadam, with averages or for variables that exclude_from_weight_decay(var_list=...) "
            "names.",
            type(optimizer).__name__,
            optimizer.weight_decay,
        )
    if optimizer.use_ema:
        _LOG.warning(
            "%s(use_ema=True): an Estimator trains without the averages, which Keras puts in place "
            "of the weights at the end of fit().",
            type(optimizer).__name__,
        )


def _check_can_accumulate(optimizer: AnyOptimizer, steps: int) -> None:
    if steps > 1:
        raise ValueError(
            f"Gradients of {steps} steps are to be accumulated, which {type(optimizer).__name__} "
            f"of {type(optimizer).__module__} cannot do. Use the one of tf_keras.optimizers, such "
            "as tf_keras.optimizers.Adam."
        )


def make_legacy_form(optimizer: AnyOptimizer) -> tf_keras.optimizers.legacy.Optimizer | None:
    """Returns a new legacy optimizer with all settings of another, or None if none exists.

    Args:
      optimizer: One of `tf_keras.optimizers` or `tf_keras.optimizers.legacy`, made in eager code.
        It is never changed.
    """
    with enter_eager_mode():
        if isinstance(optimizer, tf_keras.optimizers.legacy.Optimizer):
            return _Legacy(optimizer, None).copy()
        return _convert(optimizer) if _has_legacy_form(optimizer) else None


class _V1(GraphOptimizer):
    """Optimizer of tf.compat.v1.train."""

    scales_loss = True

    def __init__(self, optimizer: tf.compat.v1.train.Optimizer) -> None:
        self._optimizer = optimizer

    def minimize(
        self,
        loss: tf.Tensor,
        variables: Sequence[tf.Variable],
        global_step: tf.Variable,
        gradients: Sequence[Any] | None = None,
    ) -> TrainStep:
        """Builds a training step in the default graph; see the base class."""
        with tf.name_scope(self.scope):
            if gradients is None:
                pairs = self._optimizer.compute_gradients(loss, list(variables))
            else:
                pairs = list(zip(gradients, variables, strict=True))
            step = self._optimizer.apply_gradients(drop_missing_gradients(pairs), global_step)
        # Keras wraps a v1 optimizer in an object, which is a level in checkpoints.
        wrapper = tf.Module()
        wrapper.optimizer = self._optimizer
        return TrainStep(step, wrapper)


class _Legacy(KerasOptimizer):
    """Optimizer of tf_keras.optimizers.legacy, which works in graphs unchanged."""

    def copy(self) -> Any:
        """Returns a new optimizer with the same settings, without a LossScaleOptimizer."""
        config = dict(self._config)
        if self._schedule:
            config["learning_rate"] = self._schedule
        return self._class.from_config(config)

    def minimize(
        self,
        loss: tf.Tensor,
        variables: Sequence[tf.Variable],
        global_step: tf.Variable,
        gradients: Sequence[Any] | None = None,
    ) -> TrainStep:
        """Builds a training step in the default graph; see the base class."""
        with contextlib.nullcontext() if self._loss_scaling else tf.name_scope(self.scope):
            optimizer = self._add_loss_scaling(self.copy())
            optimizer.iterations = global_step
            pairs = self._gradients(optimizer, loss, variables, gradients)
            return TrainStep(optimizer.apply_gradients(pairs), optimizer)


def _has_legacy_form(optimizer: AnyOptimizer) -> bool:
    """Returns whether the legacy optimizer of the same name supports all settings of a new one.

    A subclass may compute anything. Weight decay is new: if a graph does not support it, training
    ignores it, as in tf.estimator.
    """
    if type(optimizer) not in _WITH_LEGACY_FORM:
        return False
    return not optimizer.weight_decay or bool(find_refusal(optimizer))


def _convert(optimizer: AnyOptimizer) -> Any:
    """Converts a new optimizer that has a legacy form."""
    with register_schedule(optimizer):
        return tf_keras.__internal__.optimizers.convert_to_legacy_optimizer(optimizer)
