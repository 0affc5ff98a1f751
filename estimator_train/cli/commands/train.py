"""The commands that train a model, evaluate it, and plot its history."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from absl import flags as absl_flags

from estimator_train.cli import results
from estimator_train.cli.errors import PROGRAM, UsageError
from estimator_train.cli.job import user_code
from estimator_train.cli.job.user_code import Group
from estimator_train.lifecycle.preemption import Preempted, Preemption, watch

if TYPE_CHECKING:
    from estimator_train import EvalSpec, SessionRunHook
    from estimator_train.cli.job.evaluations import Stopping
    from estimator_train.cli.job.job import Job
    from estimator_train.hooks import StepBreakdown, TimeHistory

_TRAIN = """
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
_EVALUATE = """
Evaluates the model in --model_dir on the evaluation data (the data of the input_fn for mode 'eval')
and prints one line for each metric. Use the --preset, or the --model and --input_fn, of the
training.
"""
_REPORT = """
Plots the loss, the throughput and the time of a step over the steps of one or more runs, and prints
one line for each run. For runs with different numbers of replicas it also plots the scaling. It
reads history.jsonl in each MODEL_DIR, or the event files if that file does not exist. The plots
need matplotlib: pip install matplotlib.
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


class Train:
    """`estimator-train train`: trains, evaluates and exports a model."""

    DESCRIPTION = _TRAIN
    FLAGS = (_define_dry_run, _define_profile, *user_code.JOB_FLAGS)

    @staticmethod
    def run(flag_values: absl_flags.FlagValues) -> None:
        """Trains the model of the flags.

        Args:
          flag_values: The parsed flags.

        Raises:
          UsageError: A flag is missing or wrong.
        """
        with exit_saved_on_signal(flag_values), results.record_run(flag_values) as record:
            _run(flag_values, record)


def _run(flag_values: absl_flags.FlagValues, record: dict[str, Any]) -> None:
    from estimator_train.cli.job.evaluations import Stopping, make_eval_spec, run_dry
    from estimator_train.cli.job.job import Job, remove_model_dir
    from estimator_train.engine.run.history import read_goodput
    from estimator_train.hooks import ProfileHook, StepBreakdown, TimeHistory

    make_reproducible(flag_values)
    if flag_values.dry_run:
        run_dry(flag_values)
        return
    job = Job(flag_values)
    if flag_values.clean:
        remove_model_dir(flag_values.model_dir)
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
    from estimator_train.cli.job.inputs import TrainingInput
    from estimator_train.hooks import ProgressHook

    max_steps = flag_values.max_train_steps
    _print_start(job, max_steps)
    training_input = TrainingInput(
        job.make_input_fn(ModeKeys.TRAIN), max_steps, job.check_eval_input
    )
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
        # Some roles of a cluster do not evaluate. Without exports the metrics are of an earlier
        # job, whose flags may have been others.
        return result[0] if result and result[1] is not None else None
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
    from estimator_train.cli.job.exporters import find_newest_exports
    from estimator_train.engine.checkpoints.best import best_checkpoint

    if metrics is None:
        metrics = job.estimator.evaluate(job.make_eval_input_fn(), steps=flag_values.eval_steps)
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


@contextlib.contextmanager
def exit_saved_on_signal(flag_values: absl_flags.FlagValues) -> Iterator[None]:
    """Saves training and exits with code 143 if a signal of --preemption_signals arrives.

    Args:
      flag_values: The parsed flags.

    Raises:
      ValueError: A signal does not exist on this system.
    """
    signals = tuple(flag_values.preemption_signals or ())
    with watch(Preemption(signals, flag_values.grace_secs)):
        try:
            yield
        except Preempted:
            if flag_values.slurm_requeue:
                _requeue()
            raise


def make_reproducible(flag_values: absl_flags.FlagValues) -> None:
    """Sets the seeds of Python, NumPy and Keras, and makes operations deterministic, by the flags.

    Args:
      flag_values: The parsed flags.

    Raises:
      UsageError: --deterministic is given without --seed.
    """
    if flag_values.deterministic and flag_values.seed is None:
        raise UsageError("--deterministic needs --seed, such as --seed=1.")
    if flag_values.seed is None:
        return
    import tensorflow as tf
    import tf_keras

    tf_keras.utils.set_random_seed(flag_values.seed)
    if flag_values.deterministic:
        tf.config.experimental.enable_op_determinism()


def _requeue() -> None:
    """Requeues this Slurm job, or this task of a job array."""
    array, task = (os.environ.get(f"SLURM_ARRAY_{name}") for name in ("JOB_ID", "TASK_ID"))
    job = f"{array}_{task}" if array and task else os.environ.get("SLURM_JOB_ID")
    if not job:
        print(
            f"{PROGRAM}: --slurm_requeue: this is not a Slurm job, because SLURM_JOB_ID is not set",
            file=sys.stderr,
        )
        return
    if os.environ.get("SLURM_PROCID", "0") != "0":
        return
    try:
        subprocess.run(["scontrol", "requeue", job], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{PROGRAM}: --slurm_requeue: {error}", file=sys.stderr)


class Evaluate:
    """`estimator-train evaluate`: prints the metrics of a checkpoint."""

    DESCRIPTION = _EVALUATE
    FLAGS = (*user_code.JOB_FLAGS, user_code.define_checkpoint_path)

    @staticmethod
    def run(flag_values: absl_flags.FlagValues) -> None:
        """Evaluates the model in --model_dir and prints its metrics.

        Args:
          flag_values: The parsed flags.

        Raises:
          UsageError: A flag is missing or wrong, or there is no checkpoint.
        """
        with results.record_run(flag_values) as record:
            _evaluate(flag_values, record)


def _evaluate(flag_values: absl_flags.FlagValues, record: dict[str, Any]) -> None:
    from estimator_train.cli.job.job import Job, find_checkpoint

    job = Job(flag_values)
    record["checkpoint"] = find_checkpoint(flag_values)
    metrics = job.estimator.evaluate(
        job.make_eval_input_fn(),
        steps=flag_values.eval_steps,
        checkpoint_path=flag_values.checkpoint_path,
    )
    record["metrics"] = dict(metrics)
    print(results.format_table(results.format_metrics(metrics)))


def _define_plots(flag_values: absl_flags.FlagValues) -> None:
    define = Group(flag_values)
    define.string(
        "output_dir",
        "report",
        "Directory for the PNG files and for report.html, which contains all plots.",
    )
    define.list(
        "replicas",
        [],
        "Number of replicas of each run, such as 1,2,4 for three runs. The default is the number "
        "in the history of the run.",
    )


class Report:
    """`estimator-train report`: plots the history of trainings."""

    DESCRIPTION = _REPORT
    FLAGS = (_define_plots,)

    @staticmethod
    def run(flag_values: absl_flags.FlagValues, model_dirs: Sequence[str]) -> None:
        """Writes the plots and prints a line for each run.

        Args:
          flag_values: The parsed flags.
          model_dirs: The model directories of the runs.

        Raises:
          UsageError: There is no run, a run has no history, --replicas has a wrong value, or
            matplotlib is not installed.
        """
        if not model_dirs:
            raise UsageError(
                "one or more model directories are needed, such as: report runs/digits"
            )
        replicas = _parse_replicas(flag_values.replicas, len(model_dirs))
        try:
            from estimator_train.report import report
        except ImportError as error:
            raise UsageError(
                f"report needs matplotlib, which cannot be imported ({error}): "
                "pip install matplotlib."
            ) from error
        plots = report(*model_dirs, replicas=replicas)
        print(results.format_table({**plots.rows, **plots.write(flag_values.output_dir)}))


def _parse_replicas(values: Sequence[str], runs: int) -> list[int]:
    if not values:
        return []
    if not all(value.isdigit() and int(value) > 0 for value in values) or len(values) != runs:
        raise UsageError(
            f"--replicas={','.join(values)} must be {runs} positive numbers, one for each run."
        )
    return [int(value) for value in values]
