"""Stand-in for `tf.contrib.training`: hyperparameters, training operations, evaluation."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import Fetches, Gradient, Optimizer, Step, TensorLike
from tf_contrib.training.bucketing import bucket, bucket_by_sequence_length
from tf_contrib.training.devices import (
    GreedyLoadBalancingStrategy,
    byte_size_load_fn,
)
from tf_contrib.training.evaluation import (
    StopAfterNEvalsHook,
    SummaryAtEndHook,
    evaluate_once,
    evaluate_repeatedly,
    get_or_create_eval_step,
)
from tf_contrib.training.gradients import get_values, map_values
from tf_contrib.training.hparams import HParams, parse_values
from tf_contrib.training.sampling import (
    rejection_sample,
    resample_at_rate,
    stratified_sample,
    weighted_resample,
)
from tf_contrib.training.tuner import Tuner as Tuner

_v1 = tf.compat.v1
_UNSET: Any = object()
checkpoints_iterator = tf.train.checkpoints_iterator
__all__ = [
    "GreedyLoadBalancingStrategy",
    "HParams",
    "StopAfterNEvalsHook",
    "SummaryAtEndHook",
    "add_gradients_summaries",
    "bucket",
    "bucket_by_sequence_length",
    "byte_size_load_fn",
    "checkpoints_iterator",
    "clip_gradient_norms",
    "clip_gradient_norms_fn",
    "create_train_op",
    "evaluate_once",
    "evaluate_repeatedly",
    "get_or_create_eval_step",
    "multiply_gradients",
    "parse_values",
    "rejection_sample",
    "resample_at_rate",
    "stratified_sample",
    "train",
    "wait_for_new_checkpoint",
    "weighted_resample",
]


def clip_gradient_norms(gradients_to_variables: Sequence[Any], max_norm: float) -> list[Any]:
    """Limits the norm of each gradient in pairs of gradient and variable."""

    def clip(values: tf.Tensor) -> tf.Tensor:
        return tf.clip_by_norm(values, max_norm)

    return [(map_values(clip, gradient), variable) for gradient, variable in gradients_to_variables]


def clip_gradient_norms_fn(max_norm: float) -> Callable[[Any], list[Any]]:
    """Returns `clip_gradient_norms` as a function of the pairs."""
    return lambda pairs: clip_gradient_norms(pairs, max_norm)


def multiply_gradients(
    grads_and_vars: Sequence[Any], gradient_multipliers: Mapping[Any, Any]
) -> list[Any]:
    """Multiplies the gradients of some variables in pairs of gradient and variable.

    Args:
      grads_and_vars: Pairs of gradient and variable.
      gradient_multipliers: Factors by variable or by the name of its operation.

    Raises:
      ValueError: There are no factors, or a variable with a factor has no gradient.
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not isinstance(gradient_multipliers, Mapping) or not gradient_multipliers:
        raise ValueError("`gradient_multipliers` must be a dict with at least one factor.")

    def multiply(gradient: Gradient | None, variable: tf.Variable) -> Gradient | None:
        by_name = gradient_multipliers.get(variable.op.name)
        factors = (f for key, f in gradient_multipliers.items() if key is variable)
        factor = next(factors, by_name)
        if factor is None:
            return gradient
        if gradient is None:
            raise ValueError(f"`{variable.op.name}` has no gradient to multiply.")
        return map_values(lambda values: values * tf.cast(factor, gradient.dtype), gradient)

    return [(multiply(gradient, variable), variable) for gradient, variable in grads_and_vars]


def add_gradients_summaries(grads_and_vars: Sequence[Any]) -> list[Any]:
    """Adds summaries of gradients and their norms."""
    summaries = []
    for gradient, variable in grads_and_vars:
        if gradient is not None:
            values = get_values(gradient)
            summaries.append(_v1.summary.histogram(f"{variable.op.name}_gradient", values))
            norm = tf.linalg.global_norm([values])
            summaries.append(_v1.summary.scalar(f"{variable.op.name}_gradient_norm", norm))
    return summaries


def create_train_op(
    total_loss: TensorLike,
    optimizer: Optimizer,
    global_step: Step | None = _UNSET,
    update_ops: Sequence[Any] | None = None,
    variables_to_train: Sequence[Any] | None = None,
    transform_grads_fn: Callable[[Any], Any] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: int = _v1.train.Optimizer.GATE_OP,
    aggregation_method: int | None = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> tf.Tensor:
    """Builds the operation of a training step, which returns the loss.

    Args:
      total_loss: Loss.
      optimizer: Optimizer.
      global_step: Step to count; by default the global step of the graph; None: no step.
      update_ops: Operations to run before the step; by default the collection UPDATE_OPS.
      variables_to_train: Variables; by default all trainable variables.
      transform_grads_fn: Function that converts pairs of gradient and variable.
      summarize_gradients: Whether to write summaries of the gradients.
      gate_gradients: See `Optimizer.compute_gradients`.
      aggregation_method: See `Optimizer.compute_gradients`.
      colocate_gradients_with_ops: See `Optimizer.compute_gradients`.
      check_numerics: Whether a NaN or infinite loss raises an error.
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
    apply_op = optimizer.apply_gradients(pairs, global_step=step)
    if check_numerics:
        total_loss = tf.debugging.check_numerics(total_loss, "LossTensor is inf or nan")
    with tf.name_scope("train_op"), tf.control_dependencies([apply_op]):
        operation = tf.identity(total_loss, name="control_dependency")
    _v1.add_to_collection(_v1.GraphKeys.TRAIN_OP, operation)
    return operation


def train(
    train_op: Fetches,
    logdir: str | None,
    master: str = "",
    is_chief: bool = True,
    scaffold: tf.compat.v1.train.Scaffold | None = None,
    hooks: Sequence[Any] | None = None,
    chief_only_hooks: Sequence[Any] | None = None,
    save_checkpoint_secs: float | None = 600,
    save_summaries_steps: int | None = 100,
    config: tf.compat.v1.ConfigProto | None = None,
    max_wait_secs: int = 7200,
    run_metadata: object = None,
) -> Any:
    """Runs a training operation in a MonitoredTrainingSession until a hook stops it.

    Returns:
      The last value of the operation, or None.
    """
    session_arguments = dict(locals())
    del (
        session_arguments["train_op"],
        session_arguments["logdir"],
        session_arguments["run_metadata"],
    )
    if logdir is None and is_chief and (save_summaries_steps or save_checkpoint_secs):
        raise ValueError("logdir cannot be None while summaries or checkpoints are to be saved.")
    last_value = None
    with _v1.train.MonitoredTrainingSession(checkpoint_dir=logdir, **session_arguments) as session:
        while not session.should_stop():
            last_value = session.run(train_op)
    return last_value


def wait_for_new_checkpoint(
    checkpoint_dir: str,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """Waits for a checkpoint other than the last one.

    Returns:
      The path of the checkpoint, or None after the timeout.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    while True:
        checkpoint = tf.train.latest_checkpoint(checkpoint_dir)
        if checkpoint is not None and checkpoint != last_checkpoint:
            return checkpoint
        if deadline is not None and time.monotonic() + seconds_to_sleep > deadline:
            return None
        time.sleep(seconds_to_sleep)
