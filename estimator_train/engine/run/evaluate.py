"""Evaluation: metrics over the batches of an input, written to the log and an event file."""

import contextlib
import dataclasses
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.engine.checkpoints import best, warm_start
from estimator_train.engine.checkpoints.reading import note_untrained, opened
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.distributed.strategies import graph_form
from estimator_train.engine.graph.step_graph import Step, build_step, model_graph
from estimator_train.engine.hook_types import Hook
from estimator_train.engine.loops.graph_loop import NotLoopableError, StepLoop, build_loop
from estimator_train.engine.run import history
from estimator_train.engine.sessions.model_session import Call, model_session
from estimator_train.engine.sessions.open_model import Built, PlainSession
from estimator_train.estimator_spec.spec import ModeKeys
from estimator_train.lifecycle import preemption

_LOG = tf.get_logger()
_LOSS = "loss"
_GLOBAL_STEP = tf.compat.v1.GraphKeys.GLOBAL_STEP
_PROGRESS_LINES = 10
# Short enough for an interrupt to be heard soon, with batches enough for a loop to pay.
_LONGEST_CALL_SECS = 1.0
_FIRST_BATCHES, _MOST_BATCHES = 4, 32


def evaluate(
    context: EstimatorContext,
    input_fn: Any,
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
      steps: Batches to evaluate; None goes to the end of the input.
      hooks: Hooks of the caller.
      checkpoint_path: The checkpoint; by default the latest, and freshly initialized variables
        where there is none.
      name: The evaluation's name, or None.
      output_dir: Where the metrics are written as summaries.

    Returns:
      Metric name to NumPy value, with `loss` and `global_step`.
    """
    distribute = context.config.eval_distribute
    strategy = graph_form(distribute, None) if distribute else None

    def session_at(path: str | None) -> contextlib.AbstractContextManager[Call]:
        note_untrained(context.model_dir, path, "evaluate")

        def build() -> Built:
            built = build_evaluation(context, input_fn, strategy)
            if context.warm_start:
                with built.graph.as_default():
                    warm_start.apply(context.warm_start, path)
            _LOG.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%S"))
            return built

        master = context.config.evaluation_master
        return model_session(
            context, ModeKeys.EVAL, input_fn, path, hooks, build, master=master, strategy=strategy
        )

    start = time.monotonic()
    with opened(context.model_dir, checkpoint_path, session_at) as (path, call):
        run_batches(call, steps)
    _LOG.info("Inference Time : %0.5fs", time.monotonic() - start)
    _LOG.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S"))
    with call.built.graph.as_default():  # Its event file begins with the graph.
        write_results(call.results, path, output_dir)
    entry = {"eval": name or "", "metrics": call.results, "checkpoint": path or ""}
    history.append(context.model_dir, call.results[_GLOBAL_STEP], entry)
    best.keep_if_best(context.config, call.results, path)
    return call.results


def build_evaluation(context: EstimatorContext, input_fn: Any, strategy: Any = None) -> Built:
    """Builds the graph of an evaluation, whose final values are its results.

    Args:
      context: The estimator that is run.
      input_fn: The user's input_fn.
      strategy: The strategy to build under, or None.
    """
    with model_graph(context) as graph:
        step = build_step(context, input_fn, ModeKeys.EVAL, strategy)
        values, update_op = _metrics(step)
        batch = _batch(update_op, step.spec.loss)
        scaffold = _with_local_variables(step.spec.scaffold)
        return Built(graph, step.inputs, scaffold, step.spec.evaluation_hooks, batch, values)


def _with_local_variables(scaffold: tf.compat.v1.train.Scaffold) -> tf.compat.v1.train.Scaffold:
    """The Scaffold, which initializes all local variables whatever else the user has it do.

    The user's operation is made in model_fn, before there are those of the loss's mean.
    """
    if scaffold.local_init_op is None:
        return scaffold
    everything = tf.compat.v1.train.Scaffold.default_local_init_op()
    return tf.compat.v1.train.Scaffold(
        local_init_op=tf.group(scaffold.local_init_op, everything), copy_from_scaffold=scaffold
    )


@dataclasses.dataclass(frozen=True)
class _Batch:
    """What evaluates one batch, and many in a loop where that can be."""

    update_op: tf.Operation
    loop: StepLoop | None


def _batch(update_op: tf.Operation, loss: tf.Tensor) -> _Batch:
    try:
        return _Batch(update_op, build_loop(update_op, loss, stop_at_nan=False))
    except NotLoopableError:
        return _Batch(update_op, None)


def _metrics(step: Step) -> tuple[dict[str, Any], tf.Operation]:
    """Values to read at the end, and the operation that adds a batch to them.

    Raises:
      ValueError: A metric of model_fn has a name that is taken.
    """
    metrics = dict(step.spec.eval_metric_ops)
    for name, shown in ((_LOSS, f'"{_LOSS}"'), (_GLOBAL_STEP, f"`{_GLOBAL_STEP}`")):
        if name in metrics:
            raise ValueError(
                f"Metric with name {shown} is not allowed, because Estimator already defines a "
                "default metric with the same name."
            )
    metrics[_LOSS] = tf.compat.v1.metrics.mean(step.spec.loss)
    values = {name: value for name, (value, _) in sorted(metrics.items())}
    values[_GLOBAL_STEP] = step.global_step
    return values, tf.group(*(update for _, update in metrics.values()))


def run_batches(call: Call, steps: int | None) -> None:
    """Evaluates batches until there are `steps` of them or the input ends."""
    every = max(1, steps // _PROGRESS_LINES) if steps else None
    done, most = 0, _FIRST_BATCHES
    while not call.session.should_stop() and (steps is None or done < steps):
        preemption.check("evaluating")
        start = time.monotonic()
        if steps is None or every is None:
            ran = _run_some(call, most)
        else:
            ran = _run_some(call, min(every - done % every, steps - done, most))
        done += ran
        secs_per_batch = (time.monotonic() - start) / max(1, ran)
        most = min(_MOST_BATCHES, max(1, int(_LONGEST_CALL_SECS / max(secs_per_batch, 1e-6))))
        if steps and every and (done % every == 0 or done == steps):
            _LOG.info("Evaluation [%d/%d]", done, steps)


def _run_some(call: Call, most: int) -> int:
    """Evaluates up to `most` batches, one where no loop can run; returns how many."""
    batch: _Batch = call.built.fetches
    if batch.loop is None or not isinstance(call.session, PlainSession):
        call.session.run(batch.update_op)
        return 1
    done, *_ = batch.loop.run(call.session.raw, most)
    return done


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
        where = tf.compat.v1.Summary()
        where.value.add(
            tag="checkpoint_path", tensor=tf.make_tensor_proto(checkpoint_path, tf.string)
        )
        writer.add_summary(where, step)
    writer.flush()


def _add_value(summary: tf.compat.v1.Summary, name: str, value: Any) -> None:
    """Adds one metric to a summary: a scalar, an array as a tensor, or a serialized Summary."""
    if isinstance(value, (float, int, np.floating, np.integer)):
        summary.value.add(tag=name, simple_value=float(value))
    elif isinstance(value, bytes):
        try:
            parsed = tf.compat.v1.Summary.FromString(value)
        except Exception:  # Protobuf's implementations raise errors of their own classes.
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
