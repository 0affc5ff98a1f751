"""`tf.keras.mixed_precision.experimental` of TensorFlow 2.1 to 2.9, on what replaced it."""

from typing import Any

import tensorflow as tf

_today: Any = tf.keras.mixed_precision
_DEFAULT = "auto"

global_policy = _today.global_policy
get_layer_policy = lambda layer: layer.dtype_policy  # noqa: E731


class Policy(_today.Policy):
    """A dtype policy that may name the loss scale of the optimizers compiled under it.

    Args:
      name: "float32", "mixed_float16" or "mixed_bfloat16".
      loss_scale: "dynamic", a number or None; by default dynamic for mixed_float16. An optimizer
        is wrapped by `compile` itself where it needs that.
    """

    def __init__(self, name: str, loss_scale: Any = _DEFAULT) -> None:
        super().__init__(name)
        default = "dynamic" if name == "mixed_float16" else None
        self.loss_scale = default if loss_scale == _DEFAULT else loss_scale


def set_policy(policy: Any) -> None:
    """Sets the policy of layers made from here on: a Policy, its name, or None for float32."""
    _today.set_global_policy(policy)


class _Kind(type):
    """Lets `isinstance` see today's optimizers as the class of old."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _today.LossScaleOptimizer)


class LossScaleOptimizer(metaclass=_Kind):
    """An optimizer whose loss is scaled.

    Args:
      optimizer: The optimizer.
      loss_scale: "dynamic", or a number that stays.
    """

    def __new__(cls, optimizer: Any, loss_scale: Any) -> Any:
        """Returns today's wrapper of the optimizer."""
        if loss_scale == "dynamic":
            return _today.LossScaleOptimizer(optimizer)
        return _today.LossScaleOptimizer(optimizer, dynamic=False, initial_scale=float(loss_scale))
