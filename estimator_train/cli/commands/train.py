"""`estimator-train train`: trains, evaluates and exports a model."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from absl import flags as absl_flags

from estimator_train.cli import common
from estimator_train.cli.job.own_packages import Group
from estimator_train.cli.job.preemption import exit_saved_on_signal, make_reproducible
from estimator_train.cli.output import results, summary

if TYPE_CHECKING:
    from estimator_train import EvalSpec, SessionRunHook
    from estimator_train.cli.job.job import Job
    from estimator_train.cli.job.stopping import Stopping
    from estimator_train.hooks import StepBreakdown, TimeHistory

DESCRIPTION = """
Trains a model, evaluates it, exports it if there is an --export_dir, and prints a summary. The
model is a preset, or your own code: --model and --input_fn name functions. These functions may have
as arguments any flag by its name (batch_size is the size for one replica) and params (a dict of all
flags); an input_fn may also have mode, num_epochs, config, input_context and pipeline_options.

A run trains for --train_epochs, or until --max_train_steps. If --model_dir has a checkpoint, the
run continues from this checkpoint. Each run then trains --train_epochs more epochs.
--max_train_steps counts the steps of all runs, so a job that was interrupted and restarted ends at
the same step. --clean removes the checkpoints and starts over.

With --eval, the command evaluates checkpoints during training, and can stop by their metrics.
"""


def _define_dry_run(flag_values: absl_flags.FlagValues) -> None:
    Group(flag_values).boolean(
        "dry_run",
        False,
        "Only try the job in a temporary directory: two training steps, the evaluation of one "
        "batch, an export and a served prediction.",
    )


def _define_profile(flag_values: absl_flags.FlagValues) -> None:
    Group(flag_values).string(
        "profile",
        None,
        "START:STOP, such as 100:110, writes a profile of the steps between these global steps to "
        "--model_dir, for TensorBoard, and reports the slowest part of a step.",
    )


FLAGS = (_define_dry_run, _define_profile, *common.JOB_FLAGS)


def run(flag_values: absl_flags.FlagValues) -> None:
    """Trains the model of the flags.

    Args:
      flag_values: The parsed flags.

    Raises:
      UsageError: A flag is missing or wrong.
    """
    with exit_saved_on_signal(flag_values), summary.record_run(flag_values) as record:
        _run(flag_values, record)


def _run(flag_values: absl_flags.FlagValues, record: dict[str, Any]) -> None:
    from estimator_train.cli.inspect import dry_run
    from estimator_train.cli.job import model_dirs
    from estimator_train.cli.job.evaluations import make_eval_spec
    from estimator_train.cli.job.job import Job
    from estimator_train.cli.job.stopping import Stopping
    from estimator_train.engine.run.history import read_goodput
    from estimator_train.hooks import ProfileHook, StepBreakdown, TimeHistory

    make_reproducible(flag_values)
    if flag_values.dry_run:
        dry_run.run(flag_values)
        return
    job = Job(flag_values)
    if flag_values.clean:
        model_dirs.remove_model_dir(flag_values.model_dir)
    evaluation = make_eval_spec(job, flag_values) if flag_values.eval else None
    every_steps = evaluation.every_steps if evaluation else None
    times = TimeHistory(flag_values.batch_size)
    stopping = Stopping(job.estimator, flag_values, every_steps)
    hooks = [times, *stopping.hooks]
    profile, breakdown = None, None
    if flag_values.profile:
        profile = ProfileHook(flag_values.profile, job.estimator.model_dir)
        breakdown = StepBreakdown()
        hooks += [profile, breakdown]
    try:
        metrics = _train(job, flag_values, evaluation, hooks)
    finally:
        if profile:
            profile.close()
        record["checkpoint"] = job.estimator.latest_checkpoint()
        record["steps"] = len(times.times)
        record["examples_per_sec"] = times.examples_per_second if times.times else None
        goodput = read_goodput(job.estimator.model_dir)
        record["goodput"] = goodput.to_json() if goodput else None
    record["metrics"] = _summarize(job, flag_values, metrics, times, stopping, breakdown)


def _train(
    job: "Job",
    flag_values: absl_flags.FlagValues,
    evaluation: "EvalSpec | None",
    hooks: "list[SessionRunHook]",
) -> Mapping[str, Any] | None:
    """Trains, and returns the metrics of the last evaluation, or None without one."""
    from estimator_train import ModeKeys, TrainSpec, train_and_evaluate
    from estimator_train.cli.job.evaluations import EvaluationPrinter
    from estimator_train.cli.job.training_input import TrainingInput
    from estimator_train.hooks import ProgressHook

    max_steps = flag_values.max_train_steps
    _print_start(job, max_steps)
    training_input = TrainingInput(job.make_input_fn(ModeKeys.TRAIN), max_steps)
    progress = ProgressHook(training_input.find_last_step, flag_values.batch_size)
    hooks = [progress, *hooks]
    try:
        if evaluation is None:
            job.estimator.train(training_input, hooks=hooks, max_steps=max_steps)
            return None
        training = TrainSpec(training_input, max_steps, hooks)
        exporters = (*evaluation.exporters, EvaluationPrinter())
        evaluation = evaluation._replace(exporters=exporters)
        result = train_and_evaluate(job.estimator, training, evaluation)
        return result[0] if result else None  # Some roles of a cluster do not evaluate.
    finally:
        progress.close()


def _print_start(job: "Job", max_steps: int | None) -> None:
    from estimator_train.engine.checkpoints.reading import read_global_step

    checkpoint = job.estimator.latest_checkpoint()
    if not checkpoint:
        return
    step = read_global_step(checkpoint)
    if max_steps and step >= max_steps:
        print(
            f"nothing to train: {checkpoint} is at step {step}, and --max_train_steps="
            f"{max_steps}. Increase --max_train_steps, or use --clean to start over.",
            file=sys.stderr,
        )
    else:
        print(f"continuing from {checkpoint}", file=sys.stderr)


def _summarize(
    job: "Job",
    flag_values: absl_flags.FlagValues,
    metrics: Mapping[str, Any] | None,
    times: "TimeHistory",
    stopping: "Stopping",
    breakdown: "StepBreakdown | None",
) -> dict[str, Any]:
    """Evaluates unless there are metrics, exports, prints the summary, and returns the metrics."""
    from estimator_train import ModeKeys
    from estimator_train.cli.job.exporters import find_newest_exports
    from estimator_train.engine.checkpoints.best import best_checkpoint

    if metrics is None:
        input_fn = job.make_input_fn(ModeKeys.EVAL)
        metrics = job.estimator.evaluate(input_fn, steps=flag_values.eval_steps)
    rows = results.format_metrics(metrics)
    if times.times:
        rows["training"] = times.report("images" if flag_values.preset else "examples")
    if breakdown:
        rows["step_time"] = breakdown.report()
    rows["stopped"] = stopping.get_reason(int(metrics["global_step"]))
    model_dir = rows["model_dir"] = job.estimator.model_dir
    if flag_values.keep_best and (best := best_checkpoint(model_dir)):
        rows["best_checkpoint"] = best
    for name, path in find_newest_exports(model_dir, flag_values.exporters).items():
        rows[f"{name}_export"] = path
    if saved_model := job.export():
        rows["saved_model"] = saved_model
    print(results.format_table(rows))
    return dict(metrics)
