"""Optimizers that take a share of the weights themselves away, beside their gradients' work."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf


class DecoupledWeightDecayExtension:
    """Makes an optimizer, the next class of the line, decay weights.

    Args:
      weight_decay: The share of a weight that a step takes away; of variables with sparse gradients
        from the rows that have one.
    """

    def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._weight_decay = weight_decay
        self._decayed: Any = None

    def minimize(self, loss: Any, *args: Any, decay_var_list: Any = None, **kwargs: Any) -> Any:
        """See `Optimizer.minimize`; decay_var_list are the variables to decay, all by default."""
        self._decayed = decay_var_list
        try:
            return super().minimize(loss, *args, **kwargs)  # type: ignore[misc]
        finally:
            self._decayed = None

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Any = None,
        name: str | None = None,
        decay_var_list: Any = None,
    ) -> Any:
        """See `Optimizer.apply_gradients`; weights decay before they are moved."""
        chosen = decay_var_list or self._decayed
        rate = self._weight_decay() if callable(self._weight_decay) else self._weight_decay
        pairs = [(gradient, var) for gradient, var in grads_and_vars if gradient is not None]
        with tf.control_dependencies([gradient for gradient, _ in pairs]):
            decays = [
                _decayed(var, rate, gradient)
                for gradient, var in pairs
                if chosen is None or any(var is other for other in chosen)
            ]
        with tf.control_dependencies(decays):
            return super().apply_gradients(pairs, global_step, name)  # type: ignore[misc]


def _decayed(var: Any, rate: Any, gradient: Any) -> Any:
    """Decays a variable; of one with a gradient for some rows, those rows."""
    rate = tf.cast(rate, var.dtype.base_dtype)
    if not isinstance(gradient, tf.IndexedSlices):
        return tf.compat.v1.assign_sub(var, rate * var)
    rows = tf.unique(gradient.indices).y
    return tf.compat.v1.scatter_sub(var, rows, rate * tf.gather(var, rows))


def extend_with_decoupled_weight_decay(base_optimizer: Any) -> Callable[..., Any]:
    """The class of an optimizer that decays weights; its first argument is weight_decay."""
    return type(
        f"{base_optimizer.__name__}WithDecay", (DecoupledWeightDecayExtension, base_optimizer), {}
    )


class AdamWOptimizer(DecoupledWeightDecayExtension, tf.compat.v1.train.AdamOptimizer):
    """Adam that decays weights.

    Args:
      weight_decay: The share of a weight that a step takes away.
      learning_rate: As for `AdamOptimizer`, as are the following.
    """

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(weight_decay, learning_rate, beta1, beta2, epsilon, use_locking, name)


class MomentumWOptimizer(DecoupledWeightDecayExtension, tf.compat.v1.train.MomentumOptimizer):
    """Momentum that decays weights.

    Args:
      weight_decay: The share of a weight that a step takes away.
      learning_rate: As for `MomentumOptimizer`, as are the following.
    """

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(weight_decay, learning_rate, momentum, use_locking, name, use_nesterov)
