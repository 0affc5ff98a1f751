"""Adam that leaves rows without gradient alone, Nadam, moving averages, and LARS."""

from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1


class _AdamOfItsOwn(tf.compat.v1.train.AdamOptimizer):
    """Adam's variables and settings, with a rule of its own for variables of both kinds."""

    def _rate_and_settings(self, dtype: tf.DType) -> tuple[Any, Any, Any, Any]:
        """The rate of this step with Adam's corrections of its averages; beta1, beta2, epsilon."""
        powers = [tf.cast(power, dtype) for power in self._get_beta_accumulators()]
        rate, beta1, beta2, epsilon = (
            tf.cast(tensor, dtype)
            for tensor in (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        )
        return rate * tf.sqrt(1 - powers[1]) / (1 - powers[0]), beta1, beta2, epsilon

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._resource_apply_sparse(grad.values, var, grad.indices)


class LazyAdamOptimizer(_AdamOfItsOwn):
    """Adam that moves, of a variable with sparse gradients, only the rows that have one."""

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        rate, beta1, beta2, epsilon = self._rate_and_settings(var.dtype.base_dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        new_m = beta1 * tf.gather(m, indices) + (1 - beta1) * grad
        new_v = beta2 * tf.gather(v, indices) + (1 - beta2) * tf.square(grad)
        change = rate * new_m / (tf.sqrt(new_v) + epsilon)
        return tf.group(
            m.scatter_update(tf.IndexedSlices(new_m, indices)),
            v.scatter_update(tf.IndexedSlices(new_v, indices)),
            var.scatter_sub(tf.IndexedSlices(change, indices)),
        )


class NadamOptimizer(_AdamOfItsOwn):
    """Adam with the momentum of Nesterov (Dozat, 2016)."""

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        rate, beta1, beta2, epsilon = self._rate_and_settings(var.dtype.base_dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        new_m = _v1.assign(m, beta1 * m + (1 - beta1) * grad)
        new_v = _v1.assign(v, beta2 * v + (1 - beta2) * tf.square(grad))
        ahead = beta1 * new_m + (1 - beta1) * grad
        return _v1.assign_sub(var, rate * ahead / (tf.sqrt(new_v) + epsilon))

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._resource_apply_dense(grad, var)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        rate, beta1, beta2, epsilon = self._rate_and_settings(var.dtype.base_dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        with tf.control_dependencies([_v1.assign(m, beta1 * m), _v1.assign(v, beta2 * v)]):
            added = (
                _v1.scatter_add(m, indices, (1 - beta1) * grad),
                _v1.scatter_add(v, indices, (1 - beta2) * tf.square(grad)),
            )
        with tf.control_dependencies(added):
            new_m, new_v = tf.gather(m, indices), tf.gather(v, indices)
        ahead = beta1 * new_m + (1 - beta1) * grad
        return _v1.scatter_sub(var, indices, rate * ahead / (tf.sqrt(new_v) + epsilon))


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
        self._ema = _v1.train.ExponentialMovingAverage(average_decay, num_updates)
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
        variables = var_list if var_list is not None else _v1.global_variables()
        named = {var.op.name: var for var in variables}
        swapped = dict(named)
        for original, average in self._averages.items():
            swapped[original], swapped[average.op.name] = average, named[original]
        return _v1.train.Saver(swapped, name=name, **kwargs)


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
        # The rate is in the gradients that are summed, so that a step keeps the rate it had.
        super().__init__(1.0, momentum, False, name, use_nesterov)
        self._rate, self._decay, self._share = learning_rate, weight_decay, eeta
        self._tiny = epsilon
        self._skipped = tuple(skip_list or ())

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Steps, with gradients scaled."""
        rate = self._rate() if callable(self._rate) else self._rate
        pairs = [
            (None if g is None else self._scaled(tf.convert_to_tensor(g), v, rate), v)
            for g, v in grads_and_vars
        ]
        return super().apply_gradients(pairs, global_step, name)

    def _scaled(self, gradient: Any, var: Any, rate: Any) -> Any:
        rate = tf.cast(rate, gradient.dtype)
        if any(part in var.op.name for part in self._skipped):
            return rate * gradient
        weight, length = tf.norm(var), tf.norm(gradient)
        trust = self._share * weight / (length + self._decay * weight + self._tiny)
        trust = tf.where((weight > 0) & (length > 0), trust, tf.ones_like(trust))
        return rate * trust * (gradient + self._decay * var)
