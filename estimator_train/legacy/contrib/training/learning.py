"""`slim.learning`: the operation of a training step, by its older arguments."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.training import (
    add_gradients_summaries,
    clip_gradient_norms,
    create_train_op as _create_train_op,
    multiply_gradients,
)

_Optimizer = tf.compat.v1.train.Optimizer
# Stands for the graph's step, where None is that nothing is counted.
_USE_GLOBAL_STEP = 0
__all__ = [
    "add_gradients_summaries",
    "clip_gradient_norms",
    "create_train_op",
    "multiply_gradients",
]


def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = _USE_GLOBAL_STEP,
    update_ops: Sequence[Any] | None = None,
    variables_to_train: Sequence[Any] | None = None,
    clip_gradient_norm: float = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = _Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Mapping[Any, float] | None = None,
    check_numerics: bool = True,
) -> tf.Tensor:
    """See `tf.contrib.training.create_train_op`, whose arguments these are but for two.

    clip_gradient_norm is the largest norm of each gradient; 0 is any. gradient_multipliers are
    variables, or names of their operations, to factors that come before the norms.
    """
    given = dict(locals())
    del given["clip_gradient_norm"], given["gradient_multipliers"]

    def transformed(pairs: Sequence[Any]) -> Sequence[Any]:
        if gradient_multipliers:
            pairs = multiply_gradients(pairs, gradient_multipliers)
        return clip_gradient_norms(pairs, clip_gradient_norm) if clip_gradient_norm > 0 else pairs

    # The step may be a tensor, which compares to nothing.
    if isinstance(global_step, int):
        del given["global_step"]
    return _create_train_op(**given, transform_grads_fn=transformed)
