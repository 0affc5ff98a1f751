"""`tf.contrib.mixed_precision`: losses that are scaled, so that small gradients do not vanish."""

import abc
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

__all__ = [
    "ExponentialUpdateLossScaleManager",
    "FixedLossScaleManager",
    "LossScaleManager",
    "LossScaleOptimizer",
]
_v1 = tf.compat.v1


class LossScaleManager(abc.ABC):
    """Says by what the loss is multiplied."""

    @abc.abstractmethod
    def get_loss_scale(self) -> Any:
        """The factor, a float tensor without dimensions."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads: Any) -> Any:
        """An operation that changes the factor.

        Args:
          finite_grads: A bool tensor: whether all gradients were numbers.
        """


class FixedLossScaleManager(LossScaleManager):
    """Always the same factor.

    Args:
      loss_scale: The factor, at least one.

    Raises:
      ValueError: It is below one.
    """

    def __init__(self, loss_scale: float) -> None:
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = tf.convert_to_tensor(loss_scale, tf.float32)

    def get_loss_scale(self) -> Any:
        """The factor."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        """An operation that does nothing."""
        del finite_grads
        return tf.no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A factor that grows while gradients are numbers, and shrinks when they are not.

    Args:
      init_loss_scale: The first factor.
      incr_every_n_steps: Steps in a row with numbers, after which it grows.
      decr_every_n_nan_or_inf: Steps with something else, after which it shrinks.
      incr_ratio: What it grows by.
      decr_ratio: What it shrinks by; it stays at least one.
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
        self._loss_scale = _variable("loss_scale", float(init_loss_scale))
        self._good = _variable("good_steps", 0)
        self._bad = _variable("bad_steps", 0)

    def get_loss_scale(self) -> Any:
        """The factor."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        """An operation that counts the step and changes the factor where that is due."""
        return tf.cond(finite_grads, self._after_numbers, self._after_something_else)

    def _after_numbers(self) -> Any:
        larger = self._loss_scale * self._ratios[0]
        larger = tf.where(tf.math.is_finite(larger), larger, self._loss_scale)
        due = self._good + 1 >= self._every[0]
        return self._changed(due, larger, self._good + 1, self._bad)

    def _after_something_else(self) -> Any:
        smaller = tf.maximum(1.0, self._loss_scale * self._ratios[1])
        due = self._bad + 1 >= self._every[1]
        return self._changed(due, smaller, 0, self._bad + 1)

    def _changed(self, due: Any, scale: Any, good: Any, bad: Any) -> Any:
        return tf.group(
            self._loss_scale.assign(tf.where(due, scale, self._loss_scale)),
            self._good.assign(tf.where(due, 0, good)),
            self._bad.assign(tf.where(due, 0, bad)),
        )


def _variable(name: str, value: Any) -> Any:
    dtype = tf.float32 if isinstance(value, float) else tf.int32
    return _v1.Variable(value, trainable=False, name=name, dtype=dtype, use_resource=True)


class LossScaleOptimizer(tf.compat.v1.train.Optimizer):
    """An optimizer whose loss is multiplied, and its gradients divided, by the same factor.

    A step whose gradients are not all numbers changes no variable.

    Args:
      opt: A `tf.train.Optimizer`.
      loss_scale_manager: Says the factor.
    """

    def __init__(self, opt: Any, loss_scale_manager: LossScaleManager) -> None:
        super().__init__(False, "LossScaleOptimizer")
        self._opt = opt
        self._manager = loss_scale_manager

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = _v1.train.Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[Any]:
        """Pairs of gradient and variable; arguments as of `tf.train.Optimizer`."""
        scale = tf.convert_to_tensor(self._manager.get_loss_scale())

        def scaled() -> Any:
            value = loss() if callable(loss) else loss
            return value * tf.cast(scale, value.dtype)

        pairs = self._opt.compute_gradients(
            scaled if tf.executing_eagerly() else scaled(),
            var_list,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
        )
        return [(_divided(gradient, scale), variable) for gradient, variable in pairs]

    def apply_gradients(
        self, grads_and_vars: Sequence[Any], global_step: Any = None, name: str | None = None
    ) -> Any:
        """An operation that applies the gradients if all are numbers; then changes the factor."""
        pairs = list(grads_and_vars)
        checked = [_values(gradient) for gradient, _ in pairs if gradient is not None]
        finite = tf.reduce_all([tf.reduce_all(tf.math.is_finite(one)) for one in checked])
        applied = tf.cond(
            finite,
            lambda: tf.group(self._opt.apply_gradients(pairs, global_step, name)),
            tf.no_op,
        )
        return tf.group(applied, self._manager.update_loss_scale(finite))


def _values(gradient: Any) -> Any:
    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient


def _divided(gradient: Any, scale: Any) -> Any:
    if gradient is None:
        return None
    values = _values(gradient)
    values = values / tf.cast(scale, values.dtype)
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return values
