"""`slim.learning`: the operation of a training step, with its older arguments, and its loop."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import Optimizer, Step, TensorLike
from tf_contrib.slim.training_loop import USE_DEFAULT, train
from tf_contrib.slim.training_step import train_step
from tf_contrib.training import (
    add_gradients_summaries,
    clip_gradient_norms,
    create_train_op as _create_train_op,
    multiply_gradients,
)

_Optimizer = tf.compat.v1.train.Optimizer
__all__ = [
    "add_gradients_summaries",
    "clip_gradient_norms",
    "create_train_op",
    "multiply_gradients",
    "train",
    "train_step",
]


def create_train_op(
    total_loss: TensorLike,
    optimizer: Optimizer,
    global_step: Step | None = USE_DEFAULT,
    update_ops: Sequence[Any] | None = None,
    variables_to_train: Sequence[Any] | None = None,
    clip_gradient_norm: float = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = _Optimizer.GATE_OP,
    aggregation_method: int | None = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Mapping[Any, float] | None = None,
    check_numerics: bool = True,
) -> tf.Tensor:
    """Builds a training operation; see `tf.contrib.training.create_train_op`.

    The arguments are the same, except for clip_gradient_norm, the maximum norm of each gradient (0:
    no limit), and gradient_multipliers, the factors of gradients by variable or by the name of its
    operation. Gradients are multiplied before they are clipped.
    """
    arguments = dict(locals())
    del arguments["clip_gradient_norm"], arguments["gradient_multipliers"]

    def transform(pairs: Sequence[Any]) -> Sequence[Any]:
        if gradient_multipliers:
            pairs = multiply_gradients(pairs, gradient_multipliers)
        return clip_gradient_norms(pairs, clip_gradient_norm) if clip_gradient_norm > 0 else pairs

    # A tensor cannot be compared with the default.
    if isinstance(global_step, int):
        del arguments["global_step"]
    return _create_train_op(**arguments, transform_grads_fn=transform)
