"""`tf.contrib.training`: hyper-parameters, training operations, waiting for checkpoints."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.training.evaluation import (
    StopAfterNEvalsHook,
    SummaryAtEndHook,
    evaluate_once,
    evaluate_repeatedly,
    get_or_create_eval_step,
)
from estimator_train.legacy.contrib.training.hparams import HParams, parse_values

_v1 = tf.compat.v1
_UNSET: Any = object()
checkpoints_iterator = tf.train.checkpoints_iterator
__all__ = [
    "HParams",
    "StopAfterNEvalsHook",
    "SummaryAtEndHook",
    "add_gradients_summaries",
    "checkpoints_iterator",
    "clip_gradient_norms",
    "clip_gradient_norms_fn",
    "create_train_op",
    "evaluate_once",
    "evaluate_repeatedly",
    "get_or_create_eval_step",
    "multiply_gradients",
    "parse_values",
    "train",
    "wait_for_new_checkpoint",
]


def clip_gradient_norms(gradients_to_variables: Sequence[Any], max_norm: float) -> list[Any]:
    """Pairs of gradient and variable, each gradient's norm limited."""

    def clipped(gradient: Any) -> Any:
        if isinstance(gradient, tf.IndexedSlices):
            values = tf.clip_by_norm(gradient.values, max_norm)
            return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
        return None if gradient is None else tf.clip_by_norm(gradient, max_norm)

    return [(clipped(gradient), variable) for gradient, variable in gradients_to_variables]


def clip_gradient_norms_fn(max_norm: float) -> Callable[[Any], list[Any]]:
    """`clip_gradient_norms` as a function of the pairs."""
    return lambda pairs: clip_gradient_norms(pairs, max_norm)


def multiply_gradients(
    grads_and_vars: Sequence[Any], gradient_multipliers: Mapping[Any, Any]
) -> list[Any]:
    """Pairs of gradient and variable, those of some variables multiplied.

    Args:
      grads_and_vars: The pairs.
      gradient_multipliers: Variables or names of their operations to factors.

    Raises:
      ValueError: There are no factors, or one of a variable without gradient.
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not isinstance(gradient_multipliers, Mapping) or not gradient_multipliers:
        raise ValueError("`gradient_multipliers` must be a dict with some factors.")

    def multiplied(gradient: Any, variable: Any) -> Any:
        by_name = gradient_multipliers.get(variable.op.name)
        found = (f for key, f in gradient_multipliers.items() if key is variable)
        factor = next(found, by_name)
        if factor is None:
            return gradient
        if gradient is None:
            raise ValueError(f"`{variable.op.name}` has no gradient to multiply.")
        factor = tf.cast(factor, gradient.dtype)
        if isinstance(gradient, tf.IndexedSlices):
            values = gradient.values * factor
            return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
        return gradient * factor

    return [(multiplied(gradient, variable), variable) for gradient, variable in grads_and_vars]


def add_gradients_summaries(grads_and_vars: Sequence[Any]) -> list[Any]:
    """Summaries of gradients and of their norms."""
    found = []
    for gradient, variable in grads_and_vars:
        if gradient is not None:
            values = getattr(gradient, "values", gradient)
            found.append(_v1.summary.histogram(f"{variable.op.name}_gradient", values))
            norm = tf.linalg.global_norm([values])
            found.append(_v1.summary.scalar(f"{variable.op.name}_gradient_norm", norm))
    return found


def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = _UNSET,
    update_ops: Sequence[Any] | None = None,
    variables_to_train: Sequence[Any] | None = None,
    transform_grads_fn: Callable[[Any], Any] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: int = _v1.train.Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> tf.Tensor:
    """The operation of a training step, which returns the loss.

    Args:
      total_loss: The loss.
      optimizer: The optimizer.
      global_step: The step that is counted; by default the graph's; None: none is.
      update_ops: Operations to run before; by default the collection UPDATE_OPS.
      variables_to_train: By default all that can be.
      transform_grads_fn: Function of pairs of gradient and variable that returns others.
      summarize_gradients: Whether to write them to the summaries.
      gate_gradients: See `Optimizer.compute_gradients`.
      aggregation_method: The same.
      colocate_gradients_with_ops: The same.
      check_numerics: Whether a loss that is no number is an error.
    """
    step = _v1.train.get_or_create_global_step() if global_step is _UNSET else global_step
    updates = _v1.get_collection(_v1.GraphKeys.UPDATE_OPS) if update_ops is None else update_ops
    with tf.control_dependencies(list(updates)):
        total_loss = tf.identity(total_loss)
    pairs = optimizer.compute_gradients(
        total_loss,
        variables_to_train or _v1.trainable_variables(),
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    pairs = transform_grads_fn(pairs) if transform_grads_fn else pairs
    if summarize_gradients:
        with tf.name_scope("summarize_grads"):
            add_gradients_summaries(pairs)
    applied = optimizer.apply_gradients(pairs, global_step=step)
    if check_numerics:
        total_loss = tf.debugging.check_numerics(total_loss, "LossTensor is inf or nan")
    with tf.name_scope("train_op"), tf.control_dependencies([applied]):
        operation = tf.identity(total_loss, name="control_dependency")
    _v1.add_to_collection(_v1.GraphKeys.TRAIN_OP, operation)
    return operation


def train(
    train_op: Any,
    logdir: str | None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Sequence[Any] | None = None,
    chief_only_hooks: Sequence[Any] | None = None,
    save_checkpoint_secs: float | None = 600,
    save_summaries_steps: int | None = 100,
    config: Any = None,
    max_wait_secs: int = 7200,
    run_metadata: Any = None,
) -> Any:
    """Runs a training operation in a MonitoredTrainingSession until a hook stops it.

    Returns:
      What the operation came to at last, or None.
    """
    of_session = dict(locals())
    del of_session["train_op"], of_session["logdir"], of_session["run_metadata"]
    if logdir is None and is_chief and (save_summaries_steps or save_checkpoint_secs):
        raise ValueError("logdir cannot be None while summaries or checkpoints are to be saved.")
    last = None
    with _v1.train.MonitoredTrainingSession(checkpoint_dir=logdir, **of_session) as session:
        while not session.should_stop():
            last = session.run(train_op)
    return last


def wait_for_new_checkpoint(
    checkpoint_dir: str,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """Waits for a checkpoint other than the last one.

    Returns:
      Its path, or None where the time is up.
    """
    end = None if timeout is None else time.time() + timeout
    while True:
        found = tf.train.latest_checkpoint(checkpoint_dir)
        if found is not None and found != last_checkpoint:
            return found
        if end is not None and time.time() + seconds_to_sleep > end:
            return None
        time.sleep(seconds_to_sleep)
