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
    """See `tf.contrib.training.create_train_op`.

    Args:
      total_loss: The loss.
      optimizer: The optimizer.
      global_step: The step that is counted; by default the graph's; None: none is.
      update_ops: Operations to run before; by default the collection UPDATE_OPS.
      variables_to_train: By default all that can be.
      clip_gradient_norm: The largest norm of each gradient; 0 is any.
      summarize_gradients: Whether to write them to the summaries.
      gate_gradients: See `Optimizer.compute_gradients`.
      aggregation_method: The same.
      colocate_gradients_with_ops: The same.
      gradient_multipliers: Variables or names of their operations to factors, before the norms.
      check_numerics: Whether a loss that is no number is an error.
    """

    def transformed(pairs: Sequence[Any]) -> Sequence[Any]:
        if gradient_multipliers:
            pairs = multiply_gradients(pairs, gradient_multipliers)
        return clip_gradient_norms(pairs, clip_gradient_norm) if clip_gradient_norm > 0 else pairs

    # The step may be a tensor, which compares to nothing.
    counted = {} if isinstance(global_step, int) else {"global_step": global_step}
    return _create_train_op(
        total_loss,
        optimizer,
        update_ops=update_ops,
        variables_to_train=variables_to_train,
        transform_grads_fn=transformed,
        summarize_gradients=summarize_gradients,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
        check_numerics=check_numerics,
        **counted,
    )
