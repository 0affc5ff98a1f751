"""optimize_loss of `tf.contrib.layers`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1
OPTIMIZER_CLS_NAMES = {
    "Adagrad": _v1.train.AdagradOptimizer,
    "Adam": _v1.train.AdamOptimizer,
    "Ftrl": _v1.train.FtrlOptimizer,
    "Momentum": lambda learning_rate: _v1.train.MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": _v1.train.RMSPropOptimizer,
    "SGD": _v1.train.GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES = ["learning_rate", "loss", "gradients", "gradient_norm"]


def optimize_loss(
    loss: Any,
    global_step: Any,
    learning_rate: Any,
    optimizer: Any,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    clip_gradients: Any = None,
    learning_rate_decay_fn: Callable[..., Any] | None = None,
    update_ops: Sequence[Any] | None = None,
    variables: Sequence[Any] | None = None,
    name: str | None = None,
    summaries: Sequence[str] | None = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> tf.Tensor:
    """The operation of a training step, which returns the loss.

    Args:
      loss: A number.
      global_step: The step, or None for the graph's.
      learning_rate: A number or tensor, or None if the optimizer knows.
      optimizer: A name, an optimizer, a class of them, or a function that returns one, of the
        learning rate or of nothing.
      gradient_noise_scale: Of random noise that is added to gradients.
      gradient_multipliers: Variables or their names to factors of their gradients.
      clip_gradients: The largest norm of all gradients, or a function of pairs that clips them.
      learning_rate_decay_fn: Function of the learning rate and the step.
      update_ops: Operations to run before; by default the collection UPDATE_OPS.
      variables: What is trained; by default all that can be.
      name: Name of the scope.
      summaries: Which of OPTIMIZER_SUMMARIES are written; by default learning rate, loss and norm.
      colocate_gradients_with_ops: See `tf.gradients`.
      increment_global_step: Whether the step is counted.

    Raises:
      ValueError: The optimizer is unknown, or nothing can be trained.
    """
    step = _v1.train.get_or_create_global_step() if global_step is None else global_step
    with _v1.variable_scope(name, "OptimizeLoss", [loss, global_step]):
        updates = _v1.get_collection(_v1.GraphKeys.UPDATE_OPS) if update_ops is None else update_ops
        with tf.control_dependencies(list(updates)):
            loss = tf.identity(loss)
        rate = _learning_rate(learning_rate, learning_rate_decay_fn, step)
        chosen = _optimizer(optimizer, rate)
        if isinstance(variables, Sequence) and not variables:
            raise ValueError("No variables to optimize: `variables` is empty.")
        pairs = chosen.compute_gradients(
            loss,
            variables or _v1.trainable_variables(),
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        pairs = [(gradient, v) for gradient, v in pairs if gradient is not None]
        pairs = _noisy(pairs, gradient_noise_scale)
        pairs = _multiplied(pairs, gradient_multipliers or {})
        pairs = _clipped(pairs, clip_gradients)
        _summarize(summaries, rate, loss, pairs)
        counted = step if increment_global_step else None
        applied = chosen.apply_gradients(pairs, counted, name="train")
        with tf.control_dependencies([applied]):
            return tf.identity(loss)


def _learning_rate(rate: Any, decay: Callable[..., Any] | None, step: Any) -> Any:
    if rate is None:
        return None
    if not isinstance(rate, tf.Tensor):
        if rate < 0:
            raise ValueError(f"Invalid learning_rate {rate}.")
        rate = _v1.get_variable(
            "learning_rate", [], initializer=_v1.constant_initializer(float(rate)), trainable=False
        )
    return rate if decay is None else decay(rate, step)


def _optimizer(given: Any, rate: Any) -> Any:
    if isinstance(given, str):
        if given not in OPTIMIZER_CLS_NAMES:
            raise ValueError(
                f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you "
                f"provided {given}."
            )
        if rate is None:
            raise ValueError(f"Learning rate is None, but should be specified for {given}.")
        return OPTIMIZER_CLS_NAMES[given](learning_rate=rate)
    if isinstance(given, type) or (callable(given) and not isinstance(given, _v1.train.Optimizer)):
        given = given() if rate is None else given(rate)
    if not hasattr(given, "apply_gradients"):
        raise ValueError(f"Unrecognized optimizer: {given}.")
    return given


def _noisy(pairs: list[Any], scale: float | None) -> list[Any]:
    if scale is None:
        return pairs
    return [(g + tf.random.truncated_normal(tf.shape(g)) * scale, v) for g, v in pairs]


def _multiplied(pairs: list[Any], factors: Mapping[Any, Any]) -> list[Any]:
    by_name = {getattr(key, "name", key): value for key, value in factors.items()}

    def times(gradient: Any, factor: Any) -> Any:
        if isinstance(gradient, tf.IndexedSlices):
            return tf.IndexedSlices(
                gradient.values * factor, gradient.indices, gradient.dense_shape
            )
        return gradient * factor

    return [(times(g, by_name[key]) if (key := _key(v, by_name)) else g, v) for g, v in pairs]


def _key(variable: Any, factors: Mapping[str, Any]) -> str | None:
    return next((name for name in (variable.name, variable.op.name) if name in factors), None)


def _clipped(pairs: list[Any], clip: Any) -> list[Any]:
    if clip is None:
        return pairs
    if callable(clip):
        return clip(pairs)
    gradients, variables = zip(*pairs, strict=True)
    limited, _ = tf.clip_by_global_norm(gradients, clip)
    return list(zip(limited, variables, strict=True))


def _summarize(names: Sequence[str] | None, rate: Any, loss: Any, pairs: list[Any]) -> None:
    names = ["loss", "learning_rate", "global_gradient_norm"] if names is None else names
    if "learning_rate" in names and rate is not None:
        _v1.summary.scalar("learning_rate", rate)
    if "loss" in names:
        _v1.summary.scalar("loss", loss)
    if {"global_gradient_norm", "gradient_norm"} & set(names):
        norm = tf.linalg.global_norm([gradient for gradient, _ in pairs])
        _v1.summary.scalar("global_norm/gradient_norm", norm)
