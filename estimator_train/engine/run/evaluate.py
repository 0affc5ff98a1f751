"""Evaluation: metrics over the batches of an input, written to the log and an event file."""

import dataclasses
import functools
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from google.protobuf.message import DecodeError

from estimator_train.engine.checkpoints import best, warm_start
from estimator_train.engine.graph.step_graph import (
    HAS_BATCHES,
    Step,
    build_step,
    open_model_graph,
)
from estimator_train.engine.inputs.data_errors import explain_data_error
from estimator_train.engine.inputs.sharding import Rounds
from estimator_train.engine.inputs.start import starts_endless
from estimator_train.engine.job import Job, find_reused_input
from estimator_train.engine.loops.graph_loop import (
    LoopFailedError,
    StepLoop,
    build_loop,
    is_worth_loop,
)
from estimator_train.engine.loops.sub_graph import NotLoopableError
from estimator_train.engine.run import history
from estimator_train.engine.run.failures import prepare_single_batches
from estimator_train.engine.sessions.model_call import ModelCall, open_call
from estimator_train.engine.sessions.open_model import BuiltModel, ModelRequest
from estimator_train.engine.tf_internals import graphs
from estimator_train.engine.tf_internals.sessions import shorten_errors
from estimator_train.engine.together.strategies import make_graph_form
from estimator_train.engine.types import Hook, InputFn, Strategy
from estimator_train.estimator_spec import ModeKeys
from estimator_train.goodput import EVALUATION, process_clock
from estimator_train.lifecycle import preemption

START_MESSAGE = "Starting evaluation at %s"
_LOG = tf.get_logger()
_GLOBAL_STEP = tf.compat.v1.GraphKeys.GLOBAL_STEP
_PROGRESS_LINES = 10
# A session call is short, so that an interrupt acts soon, but long enough to gain from a loop.
_MAX_CALL_SECS = 1.0
_FIRST_BATCHES, _MAX_BATCHES = 4, 32
_ENDLESS = (
    "The evaluation does not end unless a hook stops it: the dataset of input_fn (%s) repeats for "
    "ever, and steps is None. Use steps=N, or a dataset with one pass over the rows."
)
_LEFT_OUT = (
    "The evaluation leaves out the last %d of its batches: the model combines %d replicas, and "
    "each needs a batch. Use a number of batches that is a multiple of the number of replicas."
)


class ResultsWithoutBatches(dict[str, Any]):
    """Metrics of an evaluation whose input had no batch: the initial values of the metrics.

    A loss of 0 would be the best, so that they are neither ranked nor written.
    """


@dataclasses.dataclass(frozen=True)
class EvaluationStep:
    """Operations that evaluate one batch.

    Attributes:
      update_op: Adds a batch to the metrics.
      count_op: Adds 1 to the counter of batches, which only hooks read.
      loss: The loss of a batch.
      rounds: The rounds of several replicas, or None.
      round_updates: Updates in the place of `update_op` by the size of the round, from 1; see
        `_list_round_updates`.
    """

    update_op: tf.Operation
    count_op: tf.Tensor | tf.Operation
    loss: tf.Tensor
    rounds: Rounds | None = None
    round_updates: Sequence[tf.Operation | None] = ()

    @functools.cached_property
    def loop(self) -> StepLoop | None:
        """A loop of the step, built when it is first needed; None if there can be none."""
        graph = self.update_op.graph
        with graphs.reopen_for_context(graph), graph.as_default():
            try:
                return build_loop(self.update_op, self.loss, stop_at_nan=False)
            except NotLoopableError:
                return None


class _Evaluation(ModelRequest[EvaluationStep]):
    """One call of `evaluate`."""

    mode = ModeKeys.EVAL
    purpose = "evaluate"
    start_message = START_MESSAGE

    def build(self, checkpoint_path: str | None) -> BuiltModel[EvaluationStep]:
        built = build_evaluation(self.job, self.input_fn, self.strategy)
        if self.job.warm_start:
            with built.graph.as_default():
                warm_start.apply(self.job.warm_start, checkpoint_path)
        return built


def evaluate(
    job: Job,
    input_fn: InputFn,
    steps: int | None,
    hooks: Sequence[Hook],
    checkpoint_path: str | None,
    name: str | None,
    output_dir: str,
) -> dict[str, Any]:
    """Evaluates one checkpoint.

    Args:
      job: The call of the Estimator.
      input_fn: The user's input_fn.
      steps: Number of batches; None evaluates to the end of the input.
      hooks: Hooks of the caller.
      checkpoint_path: The checkpoint; by default the latest, or freshly initialized variables if
        there is none.
      name: The evaluation's name, or None.
      output_dir: Directory of the event file.

    Returns:
      Metric name to NumPy value, with `loss` and `global_step`. Those of an input without batches
      are neither written nor ranked.
    """
    config = job.config
    strategy = make_graph_form(config.eval_distribute, None) if config.eval_distribute else None
    reused = find_reused_input(input_fn)
    master = config.evaluation_master
    request = _Evaluation(job, input_fn, hooks, master, strategy, reused_input=reused)
    with process_clock.spend(EVALUATION), shorten_errors(explain_data_error):
        call = _evaluate_with_fallback(request, checkpoint_path, steps)
    results, path = take_results(call.results, input_fn), call.checkpoint_path
    if isinstance(results, ResultsWithoutBatches):
        return results
    # Its event file begins with the graph.
    with call.model.graph.as_default(), graphs.serialize_once(call.model.graph):
        write_results(results, path, output_dir)
    entry = {"eval": name or "", "metrics": results, "checkpoint": path or ""}
    history.append(job.model_dir, results[_GLOBAL_STEP], entry)
    best.keep_if_best(config, results, path, name or "")
    return results


def _evaluate_with_fallback(
    request: _Evaluation, checkpoint_path: str | None, steps: int | None
) -> ModelCall[EvaluationStep]:
    """Evaluates; evaluates again in single batches if the runtime could not run a loop."""
    try:
        return _evaluate_once(request, checkpoint_path, steps)
    except LoopFailedError as failure:
        prepare_single_batches(request.job, failure)
    return _evaluate_once(request, checkpoint_path, steps)


def _evaluate_once(
    request: _Evaluation, checkpoint_path: str | None, steps: int | None
) -> ModelCall[EvaluationStep]:
    """Evaluates; returns the call, with its results."""
    loops = ModeKeys.EVAL not in request.job.failed_loops
    with open_call(request, checkpoint_path) as call:
        if steps is None and starts_endless(call.model.inputs.initializer):
            _LOG.warning(_ENDLESS, request.input_fn)
        start = time.monotonic()
        with graphs.serialize_once(call.model.graph):
            run_batches(call.session, call.model.fetches, steps, call.raw_session, loops)
    log_end(start)
    return call


def log_end(start: float) -> None:
    """Logs the duration and the end of an evaluation.

    Args:
      start: Value of `time.monotonic` at the start.
    """
    _LOG.info("Inference Time : %0.5fs", time.monotonic() - start)
    _LOG.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S"))


def build_evaluation(
    job: Job, input_fn: InputFn, strategy: Strategy | None = None
) -> BuiltModel[EvaluationStep]:
    """Builds the graph of an evaluation; its final values are the results.

    Args:
      job: The call of the Estimator.
      input_fn: The user's input_fn.
      strategy: The strategy to build under, or None.
    """
    with open_model_graph(job) as graph:
        step = build_step(job, input_fn, ModeKeys.EVAL, strategy)
        values, update_op = _collect_metrics(step)
        count_op = tf.compat.v1.assign_add(get_or_create_eval_step(), 1)
        batch = EvaluationStep(
            update_op, count_op, step.spec.loss, step.inputs.rounds, _list_round_updates(step)
        )
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
    """Returns the values to read at the end, and the operation that adds a batch to them."""
    metrics = step.spec.eval_metric_ops
    values = {name: value for name, (value, _) in sorted(metrics.items())}
    values[_GLOBAL_STEP] = step.global_step
    return values, tf.group(*(update for _, update in metrics.values()))


def _list_round_updates(step: Step) -> list[tf.Operation | None]:
    """Returns the operation that evaluates a round, by the number of replicas with a batch from 1.

    It is None if these replicas need the batches of the others, so that the round is left out.
    """
    if step.inputs.rounds is None:
        return []
    found: list[tf.Operation | None] = []
    for size in range(1, len(step.replica_updates) + 1):
        update = tf.group(*step.replica_updates[:size])
        missing = set(step.inputs.rounds.reads[size:])
        found.append(None if missing & set(graphs.walk([update])) else update)
    return found


def run_batches(
    session: Any,
    batch: EvaluationStep,
    steps: int | None,
    raw_session: tf.compat.v1.Session | None = None,
    loops: bool = True,
) -> None:
    """Evaluates batches until their number is reached or the session stops.

    Args:
      session: The session; it raises OutOfRangeError at the end of the input.
      batch: The operations of one batch.
      steps: Number of batches; None for all of the input.
      raw_session: The raw session if no hook sees the calls; None if hooks do.
      loops: Whether a call of the raw session may run several batches.

    Raises:
      LoopFailedError: The runtime could not run the first call of several batches.
    """
    if steps is not None and steps % 1 > 0:
        steps = int(steps) + 1  # A fraction counts as a batch, as under tf.estimator.
    interval = max(1, steps // _PROGRESS_LINES) if steps else None
    loop, update = None, [batch.update_op, batch.count_op]
    rounds = batch.rounds
    if raw_session is not None:
        update = [batch.update_op]
        loops = loops and steps != 1 and is_worth_loop(raw_session.graph, steps)
        loop = batch.loop if loops else None
    done, max_batches = 0, _FIRST_BATCHES
    while not session.should_stop() and (steps is None or done < steps):
        preemption.raise_if_requested("evaluating")
        start = time.monotonic()
        limit = max_batches
        if steps is not None and interval is not None:
            limit = min(interval - done % interval, steps - done, max_batches)
        ran = 1
        if rounds is not None:
            if not rounds.next_size:
                break
            last = batch.round_updates[rounds.next_size - 1]
            if last is None:
                _LOG.warning(_LEFT_OUT, rounds.next_size, len(batch.round_updates))
                break
            session.run([last, batch.count_op])
        elif loop is None:
            session.run(update)
        else:
            ran, *_ = loop.run(raw_session, limit)
        done += ran
        secs_per_batch = (time.monotonic() - start) / max(1, ran)
        max_batches = min(_MAX_BATCHES, max(1, int(_MAX_CALL_SECS / max(secs_per_batch, 1e-6))))
        if steps and interval and (done % interval == 0 or done == steps):
            _LOG.info("Evaluation [%d/%d]", done, steps)


def take_results(final: dict[str, Any], input_fn: InputFn) -> dict[str, Any]:
    """Returns the metrics of an evaluation; logs a warning if its input had no batch.

    Args:
      final: The final values of the session.
      input_fn: The input_fn, for the warning.
    """
    results = {name: value for name, value in final.items() if name != HAS_BATCHES}
    if final[HAS_BATCHES]:
        return results
    _LOG.warning(
        "The evaluation at global step %d read no batch: the input of input_fn (%s) is empty. Its "
        "metrics are initial values; they are not written, and no checkpoint is the best by them. "
        "Return a dataset with at least one batch.",
        results[_GLOBAL_STEP],
        input_fn,
    )
    return ResultsWithoutBatches(results)


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
