"""Optimizers with decoupled weight decay."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import (
    Gradient,
    GradientsAndVariables,
    LearningRate,
    Step,
    TensorLike,
)


class DecoupledWeightDecayExtension:
    """Mixin that adds weight decay to the optimizer class that follows it.

    Args:
      weight_decay: Factor by which a step decays weights; only rows with a gradient decay in sparse
        variables.
    """

    def __init__(self, weight_decay: LearningRate, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._weight_decay = weight_decay
        self._decay_variables: Any = None

    def minimize(
        self,
        loss: tf.Tensor,
        *args: Any,
        decay_var_list: Sequence[tf.Variable] | None = None,
        **kwargs: Any,
    ) -> tf.Operation:
        """Minimizes the loss and decays decay_var_list, all variables by default.

        See `Optimizer.minimize` for the other arguments.
        """
        self._decay_variables = decay_var_list
        try:
            return super().minimize(loss, *args, **kwargs)  # type: ignore[misc]
        finally:
            self._decay_variables = None

    def apply_gradients(
        self,
        grads_and_vars: GradientsAndVariables,
        global_step: Step | None = None,
        name: str | None = None,
        decay_var_list: Sequence[tf.Variable] | None = None,
    ) -> tf.Operation:
        """Decays the weights, then applies the gradients; see `Optimizer.apply_gradients`."""
        variables = decay_var_list or self._decay_variables
        rate = self._weight_decay() if callable(self._weight_decay) else self._weight_decay
        pairs = [(gradient, var) for gradient, var in grads_and_vars if gradient is not None]
        with tf.control_dependencies([gradient for gradient, _ in pairs]):
            decays = [
                _decay(var, rate, gradient)
                for gradient, var in pairs
                if variables is None or any(var is other for other in variables)
            ]
        with tf.control_dependencies(decays):
            return super().apply_gradients(pairs, global_step, name)  # type: ignore[misc]


def _decay(var: tf.Variable, rate: TensorLike, gradient: Gradient) -> tf.Operation:
    """Decays a variable, or the rows with a gradient."""
    rate = tf.cast(rate, var.dtype.base_dtype)
    if not isinstance(gradient, tf.IndexedSlices):
        return tf.compat.v1.assign_sub(var, rate * var)
    rows = tf.unique(gradient.indices).y
    return tf.compat.v1.scatter_sub(var, rows, rate * tf.gather(var, rows))


def extend_with_decoupled_weight_decay(base_optimizer: type) -> Callable[..., Any]:
    """Returns an optimizer class with weight decay; its first argument is weight_decay."""
    return type(
        f"{base_optimizer.__name__}WithDecay", (DecoupledWeightDecayExtension, base_optimizer), {}
    )


class AdamWOptimizer(DecoupledWeightDecayExtension, tf.compat.v1.train.AdamOptimizer):
    """Adam optimizer with weight decay.

    Args:
      weight_decay: Factor by which a step decays weights.
      learning_rate: This and the other arguments are those of `AdamOptimizer`.
    """

    def __init__(
        self,
        weight_decay: LearningRate,
        learning_rate: LearningRate = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(weight_decay, learning_rate, beta1, beta2, epsilon, use_locking, name)


class MomentumWOptimizer(DecoupledWeightDecayExtension, tf.compat.v1.train.MomentumOptimizer):
    """Momentum optimizer with weight decay.

    Args:
      weight_decay: Factor by which a step decays weights.
      learning_rate: This and the other arguments are those of `MomentumOptimizer`.
    """

    def __init__(
        self,
        weight_decay: LearningRate,
        learning_rate: LearningRate,
        momentum: LearningRate,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(weight_decay, learning_rate, momentum, use_locking, name, use_nesterov)
