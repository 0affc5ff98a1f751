"""Adam that leaves rows without gradient alone, moving averages, and LARS."""

from typing import Any

import tensorflow as tf

_train = tf.compat.v1.train


class LazyAdamOptimizer(tf.compat.v1.train.AdamOptimizer):
    """Adam that moves, of a variable with sparse gradients, only the rows that have one."""

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        dtype = var.dtype.base_dtype
        powers = [tf.cast(power, dtype) for power in self._get_beta_accumulators()]
        rate, beta1, beta2, epsilon = (
            tf.cast(tensor, dtype)
            for tensor in (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        )
        rate *= tf.sqrt(1 - powers[1]) / (1 - powers[0])
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        new_m = beta1 * tf.gather(m, indices) + (1 - beta1) * grad
        new_v = beta2 * tf.gather(v, indices) + (1 - beta2) * tf.square(grad)
        change = rate * new_m / (tf.sqrt(new_v) + epsilon)
        return tf.group(
            m.scatter_update(tf.IndexedSlices(new_m, indices)),
            v.scatter_update(tf.IndexedSlices(new_v, indices)),
            var.scatter_sub(tf.IndexedSlices(change, indices)),
        )

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._resource_apply_sparse(grad.values, var, grad.indices)


class NadamOptimizer(tf.compat.v1.train.AdamOptimizer):
    """Adam with the momentum of Nesterov."""

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        powers = self._get_beta_accumulators()
        values = (*powers, self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        return tf.raw_ops.ResourceApplyAdam(
            var=var.handle,
            m=m.handle,
            v=v.handle,
            **dict(
                zip(
                    ("beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon"),
                    (tf.cast(value, grad.dtype.base_dtype) for value in values),
                    strict=True,
                )
            ),
            grad=grad,
            use_locking=self._use_locking,
            use_nesterov=True,
        )


class MovingAverageOptimizer(tf.compat.v1.train.Optimizer):
    """An optimizer after whose steps averages of the variables are moved.

    Args:
      opt: The optimizer.
      average_decay: See `ExponentialMovingAverage`.
      num_updates: The same.
      sequential_update: Whether averages wait for the step; they do.
    """

    def __init__(
        self,
        opt: Any,
        average_decay: float = 0.9999,
        num_updates: Any = None,
        sequential_update: bool = True,
    ) -> None:
        del sequential_update
        super().__init__(False, "MovingAverageOptimizer")
        self._optimizer = opt
        self._ema = _train.ExponentialMovingAverage(average_decay, num_updates)
        self._averages: dict[str, Any] = {}

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The gradients of the optimizer."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Steps, then moves the averages."""
        pairs = [(gradient, var) for gradient, var in grads_and_vars if gradient is not None]
        step = self._optimizer.apply_gradients(pairs, global_step, name)
        variables = [var for _, var in pairs]
        with tf.control_dependencies([step]):
            moved = self._ema.apply(variables)
        self._averages = {var.op.name: self._ema.average(var) for var in variables}
        return moved

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Any:
        """A saver that writes averages by the names of variables, and the other way round.

        Raises:
          RuntimeError: No gradients were applied yet.
        """
        if not self._averages:
            raise RuntimeError("Must call apply_gradients or minimize before the swapping_saver.")
        variables = var_list if var_list is not None else tf.compat.v1.global_variables()
        named = {var.op.name: var for var in variables}
        swapped = dict(named)
        for original, average in self._averages.items():
            swapped[original], swapped[average.op.name] = average, named[original]
        return _train.Saver(swapped, name=name, **kwargs)


class LARSOptimizer(tf.compat.v1.train.MomentumOptimizer):
    """Momentum with a rate for each variable, by the lengths of its weights and gradients.

    Args:
      learning_rate: The rate.
      momentum: The momentum.
      weight_decay: Share of the weights in the gradients.
      eeta: The share of a weight's length that a gradient may move it.
      epsilon: Added to lengths.
      name: Of the operations.
      skip_list: Parts of names of variables without a rate of their own.
      use_nesterov: As for `MomentumOptimizer`.
    """

    def __init__(
        self,
        learning_rate: Any,
        momentum: float = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Any = None,
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, momentum, False, name, use_nesterov)
        self._decay, self._share, self._tiny = weight_decay, eeta, epsilon
        self._skipped = tuple(skip_list or ())

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Steps, with gradients scaled."""
        pairs = [(None if g is None else self._scaled(g, v), v) for g, v in grads_and_vars]
        return super().apply_gradients(pairs, global_step, name)

    def _scaled(self, gradient: Any, var: Any) -> Any:
        if any(part in var.op.name for part in self._skipped):
            return gradient
        gradient = tf.convert_to_tensor(gradient)
        weight, length = tf.norm(var), tf.norm(gradient)
        rate = self._share * weight / (length + self._decay * weight + self._tiny)
        rate = tf.where((weight > 0) & (length > 0), rate, tf.ones_like(rate))
        return rate * (gradient + self._decay * var)
