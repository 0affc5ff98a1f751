"""LazyAdam, Nadam, moving averages of variables, and LARS."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import (
    GradientsAndVariables,
    LearningRate,
    Optimizer,
    Step,
)

_v1 = tf.compat.v1


class _CustomAdam(tf.compat.v1.train.AdamOptimizer):
    """Base class of Adam optimizers with their own update rule."""

    def _get_rate_and_settings(self, dtype: tf.DType) -> tuple[Any, Any, Any, Any]:
        """Returns the bias-corrected learning rate, beta1, beta2 and epsilon."""
        powers = [tf.cast(power, dtype) for power in self._get_beta_accumulators()]
        rate, beta1, beta2, epsilon = (
            tf.cast(tensor, dtype)
            for tensor in (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        )
        return rate * tf.sqrt(1 - powers[1]) / (1 - powers[0]), beta1, beta2, epsilon

    def _apply_sparse(self, grad: tf.IndexedSlices, var: tf.Variable) -> tf.Operation:
        return self._resource_apply_sparse(grad.values, var, grad.indices)


class LazyAdamOptimizer(_CustomAdam):
    """Adam optimizer that updates only the rows with a gradient of sparse variables."""

    def _resource_apply_sparse(
        self, grad: tf.Tensor, var: tf.Variable, indices: tf.Tensor
    ) -> tf.Operation:
        rate, beta1, beta2, epsilon = self._get_rate_and_settings(var.dtype.base_dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        new_m = beta1 * tf.gather(m, indices) + (1 - beta1) * grad
        new_v = beta2 * tf.gather(v, indices) + (1 - beta2) * tf.square(grad)
        change = rate * new_m / (tf.sqrt(new_v) + epsilon)
        return tf.group(
            m.scatter_update(tf.IndexedSlices(new_m, indices)),
            v.scatter_update(tf.IndexedSlices(new_v, indices)),
            var.scatter_sub(tf.IndexedSlices(change, indices)),
        )


class NadamOptimizer(_CustomAdam):
    """Adam optimizer with Nesterov momentum (Dozat, 2016)."""

    def _resource_apply_dense(self, grad: tf.Tensor, var: tf.Variable) -> tf.Operation:
        rate, beta1, beta2, epsilon = self._get_rate_and_settings(var.dtype.base_dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        new_m = _v1.assign(m, beta1 * m + (1 - beta1) * grad)
        new_v = _v1.assign(v, beta2 * v + (1 - beta2) * tf.square(grad))
        lookahead = beta1 * new_m + (1 - beta1) * grad
        return _v1.assign_sub(var, rate * lookahead / (tf.sqrt(new_v) + epsilon))

    def _apply_dense(self, grad: tf.Tensor, var: tf.Variable) -> tf.Operation:
        return self._resource_apply_dense(grad, var)

    def _resource_apply_sparse(
        self, grad: tf.Tensor, var: tf.Variable, indices: tf.Tensor
    ) -> tf.Operation:
        rate, beta1, beta2, epsilon = self._get_rate_and_settings(var.dtype.base_dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        with tf.control_dependencies([_v1.assign(m, beta1 * m), _v1.assign(v, beta2 * v)]):
            additions = (
                _v1.scatter_add(m, indices, (1 - beta1) * grad),
                _v1.scatter_add(v, indices, (1 - beta2) * tf.square(grad)),
            )
        with tf.control_dependencies(additions):
            new_m, new_v = tf.gather(m, indices), tf.gather(v, indices)
        lookahead = beta1 * new_m + (1 - beta1) * grad
        return _v1.scatter_sub(var, indices, rate * lookahead / (tf.sqrt(new_v) + epsilon))


class MovingAverageOptimizer(tf.compat.v1.train.Optimizer):
    """Optimizer that updates moving averages of the variables after each step.

    Args:
      opt: Wrapped optimizer.
      average_decay: See `ExponentialMovingAverage`.
      num_updates: See `ExponentialMovingAverage`.
      sequential_update: Unused: the averages always wait for the step.
    """

    def __init__(
        self,
        opt: Optimizer,
        average_decay: float = 0.9999,
        num_updates: Step | None = None,
        sequential_update: bool = True,
    ) -> None:
        del sequential_update
        super().__init__(False, "MovingAverageOptimizer")
        self._optimizer = opt
        self._ema = _v1.train.ExponentialMovingAverage(average_decay, num_updates)
        self._averages: dict[str, Any] = {}

    def compute_gradients(self, *args: Any, **kwargs: Any) -> GradientsAndVariables:
        """Returns the gradients of the wrapped optimizer."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: GradientsAndVariables,
        global_step: Step | None = None,
        name: str | None = None,
    ) -> tf.Operation:
        """Applies the gradients, then updates the averages."""
        pairs = [(gradient, var) for gradient, var in grads_and_vars if gradient is not None]
        step = self._optimizer.apply_gradients(pairs, global_step, name)
        variables = [var for _, var in pairs]
        with tf.control_dependencies([step]):
            update_averages = self._ema.apply(variables)
        self._averages = {var.op.name: self._ema.average(var) for var in variables}
        return update_averages

    def swapping_saver(
        self,
        var_list: Sequence[tf.Variable] | None = None,
        name: str = "swapping_saver",
        **kwargs: Any,
    ) -> tf.compat.v1.train.Saver:
        """Creates a saver that stores each average under the name of its variable, and vice versa.

        Raises:
          RuntimeError: No gradients are applied yet.
        """
        if not self._averages:
            raise RuntimeError("Must call apply_gradients or minimize before the swapping_saver.")
        variables = var_list if var_list is not None else _v1.global_variables()
        by_name = {var.op.name: var for var in variables}
        swapped_variables = dict(by_name)
        for original, average in self._averages.items():
            swapped_variables[original], swapped_variables[average.op.name] = (
                average,
                by_name[original],
            )
        return _v1.train.Saver(swapped_variables, name=name, **kwargs)


class LARSOptimizer(tf.compat.v1.train.MomentumOptimizer):
    """Momentum optimizer that scales the rate of each variable by its weight and gradient norms.

    Args:
      learning_rate: Learning rate.
      momentum: Momentum.
      weight_decay: Factor of the weights that are added to the gradients.
      eeta: LARS coefficient.
      epsilon: Number added to norms.
      name: Name of the operations.
      skip_list: Parts of names of variables whose rate is not scaled.
      use_nesterov: See `MomentumOptimizer`.
    """

    def __init__(
        self,
        learning_rate: LearningRate,
        momentum: float = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
    ) -> None:
        # Gradients are multiplied by the rate before they are accumulated, as in tf.contrib.
        super().__init__(1.0, momentum, False, name, use_nesterov)
        self._rate, self._decay, self._trust_coefficient = learning_rate, weight_decay, eeta
        self._epsilon = epsilon
        self._skip_list = tuple(skip_list or ())

    def apply_gradients(
        self,
        grads_and_vars: GradientsAndVariables,
        global_step: Step | None = None,
        name: str | None = None,
    ) -> tf.Operation:
        """Scales the gradients and applies them."""
        rate = self._rate() if callable(self._rate) else self._rate
        pairs = [
            (None if g is None else self._scale(tf.convert_to_tensor(g), v, rate), v)
            for g, v in grads_and_vars
        ]
        return super().apply_gradients(pairs, global_step, name)

    def _scale(self, gradient: tf.Tensor, var: tf.Variable, rate: LearningRate) -> tf.Tensor:
        rate = tf.cast(rate, gradient.dtype)
        if any(part in var.op.name for part in self._skip_list):
            return rate * gradient
        weight, length = tf.norm(var), tf.norm(gradient)
        trust = self._trust_coefficient * weight / (length + self._decay * weight + self._epsilon)
        trust = tf.where((weight > 0) & (length > 0), trust, tf.ones_like(trust))
        return rate * trust * (gradient + self._decay * var)
