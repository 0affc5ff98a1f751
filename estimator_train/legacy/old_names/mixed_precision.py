"""`tf.keras.mixed_precision.experimental` of TensorFlow 2.1 to 2.9, on the current API."""

from typing import Any

import tensorflow as tf

_current: Any = tf.keras.mixed_precision
_DEFAULT = "auto"

global_policy = _current.global_policy
get_layer_policy = lambda layer: layer.dtype_policy  # noqa: E731


class Policy(_current.Policy):
    """Dtype policy with the loss scale of the optimizers that are compiled under it.

    `compile` wraps an optimizer in a LossScaleOptimizer if the policy needs one.

    Args:
      name: "float32", "mixed_float16" or "mixed_bfloat16".
      loss_scale: "dynamic", a number or None; by default "dynamic" for mixed_float16.
    """

    def __init__(self, name: str, loss_scale: str | float | None = _DEFAULT) -> None:
        super().__init__(name)
        default = "dynamic" if name == "mixed_float16" else None
        self.loss_scale = default if loss_scale == _DEFAULT else loss_scale


def set_policy(policy: str | Policy | None) -> None:
    """Sets the policy of layers that are created later: a Policy, its name, or None for float32."""
    _current.set_global_policy(policy)


class _LossScaleOptimizerType(type):
    """Metaclass that makes `isinstance` accept the current LossScaleOptimizer."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _current.LossScaleOptimizer)


class LossScaleOptimizer(metaclass=_LossScaleOptimizerType):
    """Optimizer that scales the loss.

    Args:
      optimizer: The wrapped optimizer.
      loss_scale: "dynamic", or a fixed number.
    """

    def __new__(cls, optimizer: tf.keras.optimizers.Optimizer, loss_scale: str | float) -> Any:
        """Returns the current LossScaleOptimizer."""
        if loss_scale == "dynamic":
            return _current.LossScaleOptimizer(optimizer)
        return _current.LossScaleOptimizer(
            optimizer, dynamic=False, initial_scale=float(loss_scale)
        )
