"""`optimize_loss` of `tf.contrib.layers`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import (
    Gradient,
    LearningRate,
    Optimizer,
    Step,
    TensorLike,
)
from tf_contrib.training.gradients import get_values, map_values

_v1 = tf.compat.v1
OPTIMIZER_CLS_NAMES = {
    "Adagrad": _v1.train.AdagradOptimizer,
    "Adam": _v1.train.AdamOptimizer,
    "Ftrl": _v1.train.FtrlOptimizer,
    "Momentum": lambda learning_rate: _v1.train.MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": _v1.train.RMSPropOptimizer,
    "SGD": _v1.train.GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES = [
    "learning_rate",
    "loss",
    "gradients",
    "gradient_norm",
    "global_gradient_norm",
]
_NORMS = ("gradient_norm", "global_gradient_norm")


def optimize_loss(
    loss: TensorLike,
    global_step: Step | None,
    learning_rate: LearningRate | None,
    optimizer: str | Optimizer | Callable[..., Optimizer],
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    clip_gradients: float | Callable[[list[Any]], list[Any]] | None = None,
    learning_rate_decay_fn: Callable[..., Any] | None = None,
    update_ops: Sequence[Any] | None = None,
    variables: Sequence[Any] | None = None,
    name: str | None = None,
    summaries: Sequence[str] | None = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> tf.Tensor:
    """Builds the operation of a training step, which returns the loss.

    Args:
      loss: Scalar loss.
      global_step: Step to count; None: the global step of the graph, if there is one.
      learning_rate: Number or scalar tensor; None if the optimizer has its own.
      optimizer: Name, optimizer, optimizer class, or function that returns an optimizer; classes
        and functions get the learning rate unless it is None.
      gradient_noise_scale: Standard deviation of noise to add to the gradients.
      gradient_multipliers: Factors of gradients by variable or by its name with `:0`.
      clip_gradients: Maximum norm of all gradients, or a function that clips the pairs of gradient
        and variable.
      learning_rate_decay_fn: Function of the learning rate and the step that returns the learning
        rate.
      update_ops: Operations to run before the step; by default the collection UPDATE_OPS.
      variables: Variables to train; by default all trainable variables.
      name: Name of the scope.
      summaries: Names from OPTIMIZER_SUMMARIES to write; by default the loss, the norm of all
        gradients, and the learning rate if it decays.
      colocate_gradients_with_ops: See `tf.gradients`.
      increment_global_step: Whether to increment the step.

    Raises:
      ValueError: The optimizer is unknown, there are no variables, or an argument is wrong.
    """
    if loss.shape.rank not in (0, None):
        raise ValueError(f"The loss must be a scalar, got shape {loss.shape}.")
    step = _v1.train.get_global_step() if global_step is None else global_step
    with _v1.variable_scope(name, "OptimizeLoss", [loss, global_step]):
        updates = _v1.get_collection(_v1.GraphKeys.UPDATE_OPS) if update_ops is None else update_ops
        if updates:
            loss = _run_first(updates, loss)
        kinds = _check_summaries(summaries)
        rate = _create_learning_rate(learning_rate, learning_rate_decay_fn, step, kinds)
        trained_variables = _v1.trainable_variables() if variables is None else variables
        if not trained_variables:
            raise ValueError("No variables to optimize.")
        created_optimizer = _create_optimizer(optimizer, rate)
        pairs = created_optimizer.compute_gradients(
            loss, trained_variables, colocate_gradients_with_ops=colocate_gradients_with_ops
        )
        pairs = [(gradient, v) for gradient, v in pairs if gradient is not None]
        pairs = _add_noise(pairs, gradient_noise_scale)
        pairs = _multiply_gradients(pairs, gradient_multipliers or {})
        if set(_NORMS) & set(kinds):
            _summarize_norm("gradient_norm", pairs)
        clipped = _clip_gradients(pairs, clip_gradients)
        _summarize(kinds, loss, clipped)
        if clip_gradients is not None and set(_NORMS) & set(kinds):
            _summarize_norm("clipped_gradient_norm", clipped)
        counted_step = step if increment_global_step else None
        return _run_first(
            [created_optimizer.apply_gradients(clipped, counted_step, name="train")], loss
        )


def _run_first(operations: Sequence[Any], loss: tf.Tensor) -> tf.Tensor:
    """Returns the loss, which waits for the operations."""
    with tf.control_dependencies(list(operations)):
        return tf.identity(loss, "control_dependency")


def _check_summaries(names: Sequence[str] | None) -> Sequence[str]:
    if names is None:
        return ["loss", "learning_rate", "global_gradient_norm"]
    for kind in names:
        if kind not in OPTIMIZER_SUMMARIES:
            raise ValueError(
                f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided "
                f"{kind}."
            )
    return names


def _create_learning_rate(
    rate: LearningRate | None,
    decay: Callable[..., Any] | None,
    step: Step | None,
    summaries: Sequence[str],
) -> LearningRate | None:
    if rate is None:
        return None
    if isinstance(rate, float):
        if rate < 0.0:
            raise ValueError(f"Invalid learning_rate {rate}.")
        rate = _v1.get_variable(
            "learning_rate", [], initializer=_v1.constant_initializer(rate), trainable=False
        )
    elif not isinstance(rate, (tf.Tensor, tf.Variable)) or rate.shape.rank != 0:
        raise ValueError(f"Learning rate should be 0d Tensor or float. Got {rate}.")
    if decay is None:
        return rate
    if step is None:
        raise ValueError("global_step is required for learning_rate_decay_fn.")
    rate = decay(rate, step)
    if "learning_rate" in summaries:
        _v1.summary.scalar("learning_rate", rate)
    return rate


def _create_optimizer(
    optimizer: str | Optimizer | Callable[..., Optimizer], rate: LearningRate | None
) -> Optimizer:
    if isinstance(optimizer, str):
        if optimizer not in OPTIMIZER_CLS_NAMES:
            raise ValueError(
                f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you "
                f"provided {optimizer}."
            )
        if rate is None:
            raise ValueError(f"Learning rate is None, but should be specified for {optimizer}.")
        return OPTIMIZER_CLS_NAMES[optimizer](learning_rate=rate)
    if isinstance(optimizer, type) or (
        callable(optimizer) and not isinstance(optimizer, _v1.train.Optimizer)
    ):
        optimizer = optimizer() if rate is None else optimizer(rate)
    if not hasattr(optimizer, "apply_gradients"):
        raise ValueError(f"Unrecognized optimizer: {optimizer}.")
    return optimizer


def _add_noise(pairs: list[Any], scale: float | None) -> list[Any]:
    if scale is None:
        return pairs
    return [(g + tf.random.truncated_normal(tf.shape(g)) * scale, v) for g, v in pairs]


def _multiply_gradients(pairs: list[Any], factors: Mapping[Any, Any]) -> list[Any]:
    by_name = {getattr(key, "name", key): value for key, value in factors.items()}

    def multiply(gradient: Gradient, variable: tf.Variable) -> Gradient | None:
        if variable.name not in by_name:
            return gradient
        return map_values(lambda values: values * by_name[variable.name], gradient)

    return [(multiply(gradient, variable), variable) for gradient, variable in pairs]


def _clip_gradients(
    pairs: list[Any], clip: float | Callable[[list[Any]], list[Any]] | None
) -> list[Any]:
    if clip is None:
        return pairs
    if callable(clip):
        return clip(pairs)
    if not isinstance(clip, float):
        raise ValueError(f"Unknown type {type(clip)} for clip_gradients")
    gradients, variables = zip(*pairs, strict=True)
    limited, _ = tf.clip_by_global_norm(gradients, clip)
    return list(zip(limited, variables, strict=True))


def _summarize(kinds: Sequence[str], loss: TensorLike, pairs: list[Any]) -> None:
    if "loss" in kinds:
        _v1.summary.scalar("loss", loss)
    for gradient, variable in pairs:
        values = get_values(gradient)
        name = variable.name.replace(":", "_")
        if "gradients" in kinds:
            _v1.summary.histogram(f"gradients/{name}", values)
        if "gradient_norm" in kinds:
            _v1.summary.scalar(f"gradient_norm/{name}", tf.linalg.global_norm([values]))


def _summarize_norm(name: str, pairs: list[Any]) -> None:
    norm = tf.linalg.global_norm([gradient for gradient, _ in pairs])
    _v1.summary.scalar(f"global_norm/{name}", norm)
