"""Evaluation: metrics over the batches of an input, written to the log and an event file."""

import dataclasses
import functools
import time
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import tensorflow as tf
from google.protobuf.message import DecodeError

from estimator_train.engine.checkpoints import best, warm_start
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.distributed.strategies import make_graph_form
from estimator_train.engine.graph.step_graph import Step, build_step, open_model_graph
from estimator_train.engine.hook_types import Hook
from estimator_train.engine.loops.graph_loop import StepLoop, build_loop
from estimator_train.engine.loops.sub_graph import NotLoopableError
from estimator_train.engine.run import history
from estimator_train.engine.sessions.built_model import BuiltModel, ModelJob
from estimator_train.engine.sessions.model_call import open_call
from estimator_train.engine.sessions.open_model import PlainSession
from estimator_train.engine.tf_internals import graph_edits
from estimator_train.engine.type_aliases import InputFn, Strategy
from estimator_train.estimator_spec.spec import ModeKeys
from estimator_train.goodput.clock import EVALUATION, process_clock
from estimator_train.lifecycle import preemption

START_MESSAGE = "Starting evaluation at %s"
_LOG = tf.get_logger()
_LOSS = "loss"
_GLOBAL_STEP = tf.compat.v1.GraphKeys.GLOBAL_STEP
_PROGRESS_LINES = 10
# A session call is short, so that an interrupt acts soon, but long enough to gain from a loop.
_MAX_CALL_SECS = 1.0
_FIRST_BATCHES, _MAX_BATCHES = 4, 32
_Session: TypeAlias = PlainSession | tf.compat.v1.train.MonitoredSession


@dataclasses.dataclass(frozen=True)
class EvaluationStep:
    """Operations that evaluate one batch.

    Attributes:
      update_op: Adds a batch to the metrics.
      count_op: Adds 1 to the counter of batches, which only hooks read.
      loss: The loss of a batch.
    """

    update_op: tf.Operation
    count_op: tf.Tensor | tf.Operation
    loss: tf.Tensor

    @functools.cached_property
    def loop(self) -> StepLoop | None:
        """A loop of the step, built when it is first needed; None if there can be none."""
        graph = self.update_op.graph
        with graph_edits.reopen_for_context(graph), graph.as_default():
            try:
                return build_loop(self.update_op, self.loss, stop_at_nan=False)
            except NotLoopableError:
                return None


class _Evaluation(ModelJob[EvaluationStep]):
    """One call of `evaluate`."""

    mode = ModeKeys.EVAL
    purpose = "evaluate"
    start_message = START_MESSAGE

    def build(self, checkpoint_path: str | None) -> BuiltModel[EvaluationStep]:
        built = build_evaluation(self.context, self.input_fn, self.strategy)
        if self.context.warm_start:
            with built.graph.as_default():
                warm_start.apply(self.context.warm_start, checkpoint_path)
        return built


def evaluate(
    context: EstimatorContext,
    input_fn: InputFn,
    steps: int | None,
    hooks: Sequence[Hook],
    checkpoint_path: str | None,
    name: str | None,
    output_dir: str,
) -> dict[str, Any]:
    """Evaluates one checkpoint.

    Args:
      context: The estimator that is run.
      input_fn: The user's input_fn.
      steps: Number of batches; None evaluates to the end of the input.
      hooks: Hooks of the caller.
      checkpoint_path: The checkpoint; by default the latest, or freshly initialized variables if
        there is none.
      name: The evaluation's name, or None.
      output_dir: Directory of the event file.

    Returns:
      Metric name to NumPy value, with `loss` and `global_step`.
    """
    config = context.config
    strategy = make_graph_form(config.eval_distribute, None) if config.eval_distribute else None
    job = _Evaluation(context, input_fn, hooks, config.evaluation_master, strategy)
    with process_clock.spend(EVALUATION), open_call(job, checkpoint_path) as call:
        start = time.monotonic()
        run_batches(call.session, call.model.fetches, steps)
    log_end(start)
    results, path = call.results, call.checkpoint_path
    with call.model.graph.as_default():  # Its event file begins with the graph.
        write_results(results, path, output_dir)
    entry = {"eval": name or "", "metrics": results, "checkpoint": path or ""}
    history.append(context.model_dir, results[_GLOBAL_STEP], entry)
    best.keep_if_best(config, results, path, name or "")
    return results


def log_end(start: float) -> None:
    """Logs the duration and the end of an evaluation.

    Args:
      start: Value of `time.monotonic` at the start.
    """
    _LOG.info("Inference Time : %0.5fs", time.monotonic() - start)
    _LOG.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S"))


def build_evaluation(
    context: EstimatorContext, input_fn: InputFn, strategy: Strategy | None = None
) -> BuiltModel[EvaluationStep]:
    """Builds the graph of an evaluation; its final values are the results.

    Args:
      context: The estimator that is run.
      input_fn: The user's input_fn.
      strategy: The strategy to build under, or None.
    """
    with open_model_graph(context) as graph:
        step = build_step(context, input_fn, ModeKeys.EVAL, strategy)
        values, update_op = _collect_metrics(step)
        count_op = tf.compat.v1.assign_add(get_or_create_eval_step(), 1)
        batch = EvaluationStep(update_op, count_op, step.spec.loss)
        scaffold = _add_local_variables(step.spec.scaffold)
        return BuiltModel(graph, step.inputs, scaffold, step.spec.evaluation_hooks, batch, values)


def get_or_create_eval_step() -> tf.Variable:
    """Returns the default graph's counter of evaluated batches, for hooks."""
    keys = tf.compat.v1.GraphKeys
    eval_steps = tf.compat.v1.get_collection(keys.EVAL_STEP)
    if eval_steps:
        return eval_steps[0]
    return tf.compat.v1.get_variable(
        "eval_step",
        [],
        tf.int64,
        tf.compat.v1.zeros_initializer(),
        trainable=False,
        collections=[keys.LOCAL_VARIABLES, keys.EVAL_STEP],
    )


def _add_local_variables(scaffold: tf.compat.v1.train.Scaffold) -> tf.compat.v1.train.Scaffold:
    """Returns the Scaffold with a local_init_op that initializes all local variables.

    The user's local_init_op was built in model_fn, before the variables of the loss's mean.
    """
    if scaffold.local_init_op is None:
        return scaffold
    everything = tf.compat.v1.train.Scaffold.default_local_init_op()
    return tf.compat.v1.train.Scaffold(
        local_init_op=tf.group(scaffold.local_init_op, everything), copy_from_scaffold=scaffold
    )


def _collect_metrics(step: Step) -> tuple[dict[str, Any], tf.Operation]:
    """Returns the values to read at the end, and the operation that adds a batch to them.

    Raises:
      ValueError: A metric of model_fn has a reserved name.
    """
    metrics = dict(step.spec.eval_metric_ops)
    for name, label in ((_LOSS, f'"{_LOSS}"'), (_GLOBAL_STEP, f"`{_GLOBAL_STEP}`")):
        if name in metrics:
            raise ValueError(
                f"Metric with name {label} is not allowed, because Estimator already defines a "
                "default metric with the same name."
            )
    metrics[_LOSS] = tf.compat.v1.metrics.mean(step.spec.loss)
    values = {name: value for name, (value, _) in sorted(metrics.items())}
    values[_GLOBAL_STEP] = step.global_step
    return values, tf.group(*(update for _, update in metrics.values()))


def run_batches(session: _Session, batch: EvaluationStep, steps: int | None) -> None:
    """Evaluates batches until their number is reached or the session stops.

    Args:
      session: The session; it raises OutOfRangeError at the end of the input.
      batch: The operations of one batch.
      steps: Number of batches; None for all of the input.
    """
    interval = max(1, steps // _PROGRESS_LINES) if steps else None
    raw, loop, update = None, None, [batch.update_op, batch.count_op]
    if isinstance(session, PlainSession):
        raw, loop, update = session.raw, None if steps == 1 else batch.loop, [batch.update_op]
    done, max_batches = 0, _FIRST_BATCHES
    while not session.should_stop() and (steps is None or done < steps):
        preemption.raise_if_requested("evaluating")
        start = time.monotonic()
        limit = max_batches
        if steps is not None and interval is not None:
            limit = min(interval - done % interval, steps - done, max_batches)
        ran = 1
        if loop is None:
            session.run(update)
        else:
            ran, *_ = loop.run(raw, limit)
        done += ran
        secs_per_batch = (time.monotonic() - start) / max(1, ran)
        max_batches = min(_MAX_BATCHES, max(1, int(_MAX_CALL_SECS / max(secs_per_batch, 1e-6))))
        if steps and interval and (done % interval == 0 or done == steps):
            _LOG.info("Evaluation [%d/%d]", done, steps)


def write_results(results: dict[str, Any], checkpoint_path: str | None, output_dir: str) -> None:
    """Logs an evaluation's results and writes them as summaries, with the checkpoint if any."""
    step = results[_GLOBAL_STEP]
    # str(), not format(): the latter prints a float32 with the digits of a float64.
    line = ", ".join(
        name + " = " + str(value)
        for name, value in sorted(results.items())
        if not isinstance(value, bytes)
    )
    _LOG.info("Saving dict for global step %d: %s", step, line)
    summary = tf.compat.v1.Summary()
    for name, value in results.items():
        if name != _GLOBAL_STEP:
            _add_value(summary, name, value)
    writer = tf.compat.v1.summary.FileWriterCache.get(output_dir)
    writer.add_summary(summary, step)
    if checkpoint_path:
        _LOG.info("Saving 'checkpoint_path' summary for global step %d: %s", step, checkpoint_path)
        path_summary = tf.compat.v1.Summary()
        path_summary.value.add(
            tag="checkpoint_path", tensor=tf.make_tensor_proto(checkpoint_path, tf.string)
        )
        writer.add_summary(path_summary, step)
    writer.flush()


def _add_value(summary: tf.compat.v1.Summary, name: str, value: Any) -> None:
    """Adds one metric to a summary: a scalar, an array as a tensor, or a serialized Summary."""
    if isinstance(value, (float, int, np.floating, np.integer)):
        summary.value.add(tag=name, simple_value=float(value))
    elif isinstance(value, bytes):
        try:
            parsed = tf.compat.v1.Summary.FromString(value)
        except (DecodeError, UnicodeDecodeError):  # The second: protobuf in pure Python.
            _LOG.warning("Skipping summary for %s, cannot parse string to Summary.", name)
            return
        for number, entry in enumerate(parsed.value):
            entry.tag = f"{name}/{number}"
        summary.value.extend(parsed.value)
    elif isinstance(value, np.ndarray):
        summary.value.add(tag=name, tensor=tf.make_tensor_proto(value))
        _LOG.info(
            "Summary for np.ndarray is not visible in Tensorboard by default. Consider using a "
            "Tensorboard plugin for visualization (see "
            "https://github.com/tensorflow/tensorboard-plugin-example/blob/master/README.md for "
            "more information)."
        )
    else:
        _LOG.warning(
            "Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 or int or "
            "np.ndarray or a serialized string of Summary.",
            name,
        )
