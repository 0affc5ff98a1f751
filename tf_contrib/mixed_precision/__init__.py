"""Stand-in for `tf.contrib.mixed_precision`: loss scaling, which keeps small gradients nonzero."""

import abc
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import Optimizer, Step, TensorLike
from tf_contrib.training.gradients import get_values, map_values

__all__ = [
    "ExponentialUpdateLossScaleManager",
    "FixedLossScaleManager",
    "LossScaleManager",
    "LossScaleOptimizer",
]
_v1 = tf.compat.v1


class LossScaleManager(abc.ABC):
    """Provider of the factor that the loss is multiplied by."""

    @abc.abstractmethod
    def get_loss_scale(self) -> tf.Tensor:
        """Returns the factor, a scalar float tensor."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads: tf.Tensor) -> tf.Operation:
        """Returns an operation that updates the factor.

        Args:
          finite_grads: Scalar bool tensor: whether all gradients are finite.
        """


class FixedLossScaleManager(LossScaleManager):
    """Loss scale manager with a constant factor.

    Args:
      loss_scale: Factor, at least 1.

    Raises:
      ValueError: The factor is below 1.
    """

    def __init__(self, loss_scale: float) -> None:
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = tf.convert_to_tensor(loss_scale, tf.float32)

    def get_loss_scale(self) -> tf.Tensor:
        """Returns the factor."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: tf.Tensor) -> tf.Operation:
        """Returns an operation that does nothing."""
        del finite_grads
        return tf.no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """Loss scale manager whose factor grows with finite gradients and shrinks with others.

    Args:
      init_loss_scale: Initial factor.
      incr_every_n_steps: Number of consecutive finite steps after which the factor grows.
      decr_every_n_nan_or_inf: Number of steps with NaN or infinity after which it shrinks.
      incr_ratio: Growth of the factor.
      decr_ratio: Decrease of the factor, which stays at least 1.
    """

    def __init__(
        self,
        init_loss_scale: float,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ) -> None:
        self._every = incr_every_n_steps, decr_every_n_nan_or_inf
        self._ratios = incr_ratio, decr_ratio
        self._loss_scale = _create_variable("loss_scale", float(init_loss_scale))
        self._good = _create_variable("good_steps", 0)
        self._bad = _create_variable("bad_steps", 0)

    def get_loss_scale(self) -> tf.Tensor:
        """Returns the factor."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: tf.Tensor) -> tf.Operation:
        """Returns an operation that counts the step and updates the factor if it is due."""
        return tf.cond(
            finite_grads, self._update_after_finite_step, self._update_after_infinite_step
        )

    def _update_after_finite_step(self) -> tf.Operation:
        larger = self._loss_scale * self._ratios[0]
        larger = tf.where(tf.math.is_finite(larger), larger, self._loss_scale)
        is_due = self._good + 1 >= self._every[0]
        return self._assign(is_due, larger, self._good + 1, self._bad)

    def _update_after_infinite_step(self) -> tf.Operation:
        smaller = tf.maximum(1.0, self._loss_scale * self._ratios[1])
        is_due = self._bad + 1 >= self._every[1]
        return self._assign(is_due, smaller, 0, self._bad + 1)

    def _assign(
        self, is_due: tf.Tensor, scale: tf.Tensor, good: TensorLike, bad: TensorLike
    ) -> tf.Operation:
        return tf.group(
            self._loss_scale.assign(tf.where(is_due, scale, self._loss_scale)),
            self._good.assign(tf.where(is_due, 0, good)),
            self._bad.assign(tf.where(is_due, 0, bad)),
        )


def _create_variable(name: str, value: float) -> tf.Variable:
    dtype = tf.float32 if isinstance(value, float) else tf.int32
    return _v1.Variable(value, trainable=False, name=name, dtype=dtype, use_resource=True)


class LossScaleOptimizer(tf.compat.v1.train.Optimizer):
    """Optimizer that multiplies the loss by a factor and divides the gradients by it.

    A step with NaN or infinite gradients changes no variable.

    Args:
      opt: A `tf.train.Optimizer`.
      loss_scale_manager: Provider of the factor.
    """

    def __init__(self, opt: Optimizer, loss_scale_manager: LossScaleManager) -> None:
        super().__init__(False, "LossScaleOptimizer")
        self._opt = opt
        self._manager = loss_scale_manager

    def compute_gradients(
        self,
        loss: tf.Tensor | Callable[[], tf.Tensor],
        var_list: Sequence[tf.Variable] | None = None,
        gate_gradients: int = _v1.train.Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: tf.Tensor | None = None,
    ) -> list[Any]:
        """Returns pairs of gradient and variable; arguments are those of `tf.train.Optimizer`."""
        scale = tf.convert_to_tensor(self._manager.get_loss_scale())

        def compute_scaled_loss() -> tf.Tensor:
            value = loss() if callable(loss) else loss
            return value * tf.cast(scale, value.dtype)

        pairs = self._opt.compute_gradients(
            compute_scaled_loss if tf.executing_eagerly() else compute_scaled_loss(),
            var_list,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
        )

        def divide(values: tf.Tensor) -> tf.Tensor:
            return values / tf.cast(scale, values.dtype)

        return [(map_values(divide, gradient), variable) for gradient, variable in pairs]

    def apply_gradients(
        self,
        grads_and_vars: Sequence[Any],
        global_step: Step | None = None,
        name: str | None = None,
    ) -> tf.Operation:
        """Returns an operation that applies finite gradients and then updates the factor."""
        pairs = list(grads_and_vars)
        all_values = [get_values(gradient) for gradient, _ in pairs if gradient is not None]
        finite = tf.reduce_all([tf.reduce_all(tf.math.is_finite(one)) for one in all_values])
        apply_op = tf.cond(
            finite,
            lambda: tf.group(self._opt.apply_gradients(pairs, global_step, name)),
            tf.no_op,
        )
        return tf.group(apply_op, self._manager.update_loss_scale(finite))
