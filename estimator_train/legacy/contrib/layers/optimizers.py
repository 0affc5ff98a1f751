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
OPTIMIZER_SUMMARIES = [
    "learning_rate",
    "loss",
    "gradients",
    "gradient_norm",
    "global_gradient_norm",
]
_NORMS = ("gradient_norm", "global_gradient_norm")


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
      global_step: The step, or None for the graph's, if it has one.
      learning_rate: A number or tensor, or None if the optimizer knows.
      optimizer: A name, an optimizer, a class of them, or a function that returns one, of the
        learning rate or of nothing.
      gradient_noise_scale: Of random noise that is added to gradients.
      gradient_multipliers: Variables or their names, with `:0`, to factors of their gradients.
      clip_gradients: The largest norm of all gradients, or a function of pairs that clips them.
      learning_rate_decay_fn: Function of the learning rate and the step.
      update_ops: Operations to run before; by default the collection UPDATE_OPS.
      variables: What is trained; by default all that can be.
      name: Name of the scope.
      summaries: Which of OPTIMIZER_SUMMARIES are written; by default the loss, the norm of all
        gradients, and the learning rate where it decays.
      colocate_gradients_with_ops: See `tf.gradients`.
      increment_global_step: Whether the step is counted.

    Raises:
      ValueError: The optimizer is unknown, nothing can be trained, or an argument is wrong.
    """
    if loss.shape.rank not in (0, None):
        raise ValueError(f"The loss should be one number, its shape is {loss.shape}.")
    step = _v1.train.get_global_step() if global_step is None else global_step
    with _v1.variable_scope(name, "OptimizeLoss", [loss, global_step]):
        updates = _v1.get_collection(_v1.GraphKeys.UPDATE_OPS) if update_ops is None else update_ops
        if updates:
            loss = _after(updates, loss)
        kinds = _chosen_summaries(summaries)
        rate = _learning_rate(learning_rate, learning_rate_decay_fn, step, kinds)
        trained = _v1.trainable_variables() if variables is None else variables
        if not trained:
            raise ValueError("No variables to optimize.")
        chosen = _optimizer(optimizer, rate)
        pairs = chosen.compute_gradients(
            loss, trained, colocate_gradients_with_ops=colocate_gradients_with_ops
        )
        pairs = [(gradient, v) for gradient, v in pairs if gradient is not None]
        pairs = _noisy(pairs, gradient_noise_scale)
        pairs = _multiplied(pairs, gradient_multipliers or {})
        if set(_NORMS) & set(kinds):
            _norm_summary("gradient_norm", pairs)
        clipped = _clipped(pairs, clip_gradients)
        _summarize(kinds, loss, clipped)
        if clip_gradients is not None and set(_NORMS) & set(kinds):
            _norm_summary("clipped_gradient_norm", clipped)
        counted = step if increment_global_step else None
        return _after([chosen.apply_gradients(clipped, counted, name="train")], loss)


def _after(operations: Sequence[Any], loss: tf.Tensor) -> tf.Tensor:
    with tf.control_dependencies(list(operations)):
        return tf.identity(loss, "control_dependency")


def _chosen_summaries(given: Sequence[str] | None) -> Sequence[str]:
    if given is None:
        return ["loss", "learning_rate", "global_gradient_norm"]
    for kind in given:
        if kind not in OPTIMIZER_SUMMARIES:
            raise ValueError(
                f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided "
                f"{kind}."
            )
    return given


def _learning_rate(
    rate: Any, decay: Callable[..., Any] | None, step: Any, summaries: Sequence[str]
) -> Any:
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

    return [(times(g, by_name[v.name]) if v.name in by_name else g, v) for g, v in pairs]


def _clipped(pairs: list[Any], clip: Any) -> list[Any]:
    if clip is None:
        return pairs
    if callable(clip):
        return clip(pairs)
    if not isinstance(clip, float):
        raise ValueError(f"Unknown type {type(clip)} for clip_gradients")
    gradients, variables = zip(*pairs, strict=True)
    limited, _ = tf.clip_by_global_norm(gradients, clip)
    return list(zip(limited, variables, strict=True))


def _summarize(kinds: Sequence[str], loss: Any, pairs: list[Any]) -> None:
    if "loss" in kinds:
        _v1.summary.scalar("loss", loss)
    for gradient, variable in pairs:
        values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
        name = variable.name.replace(":", "_")
        if "gradients" in kinds:
            _v1.summary.histogram(f"gradients/{name}", values)
        if "gradient_norm" in kinds:
            _v1.summary.scalar(f"gradient_norm/{name}", tf.linalg.global_norm([values]))


def _norm_summary(name: str, pairs: list[Any]) -> None:
    norm = tf.linalg.global_norm([gradient for gradient, _ in pairs])
    _v1.summary.scalar(f"global_norm/{name}", norm)
