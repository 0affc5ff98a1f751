"""`estimator-train train`: train, evaluate, export, and say how it went."""

import sys
from typing import TYPE_CHECKING

from absl import flags as absl_flags

from estimator_train.cli import common, results

if TYPE_CHECKING:
    from estimator_train.cli.job import Job
    from estimator_train.hooks import TimeHistory

DESCRIPTION = """
Trains a model, evaluates it, exports it if there is an --export_dir, and prints a summary. What is
trained is a preset, or your own code: --model and --input_fn name functions, which are called with
those arguments that they name: any flag by its name (batch_size is that of one replica), params (a
dict of all flags), and for an input_fn also mode, num_epochs, config and input_context.

A run trains for --train_epochs, or until --max_train_steps is reached. Where --model_dir has a
checkpoint it goes on from there: each run trains --train_epochs more, while --max_train_steps
counts the steps of all runs, so that a job that was interrupted and is started again ends where it
should. --clean starts over.
"""
FLAGS = common.JOB_FLAGS


def run(flag_values: absl_flags.FlagValues) -> None:
    """Trains as the flags say.

    Args:
      flag_values: The parsed flags.

    Raises:
      UsageError: A flag is missing or wrong.
    """
    from estimator_train.cli import model_dirs
    from estimator_train.cli.job import Job

    job = Job(flag_values)
    if flag_values.clean:
        model_dirs.remove(flag_values.model_dir)
    times = _train(job, flag_values)
    _summarize(job, flag_values, times)


def _train(job: "Job", flag_values: absl_flags.FlagValues) -> "TimeHistory":
    from estimator_train import ModeKeys
    from estimator_train.cli.training_input import TrainingInput
    from estimator_train.engine.checkpoints import global_step_in
    from estimator_train.hooks import ProgressHook, TimeHistory

    checkpoint, max_steps = job.estimator.latest_checkpoint(), flag_values.max_train_steps
    times = TimeHistory(flag_values.batch_size)
    if checkpoint:
        step = global_step_in(checkpoint)
        if max_steps and step >= max_steps:
            print(
                f"nothing to train: {checkpoint} is at step {step}, and --max_train_steps="
                f"{max_steps}. Give more steps, or --clean to start over.",
                file=sys.stderr,
            )
            return times
        print(f"going on from {checkpoint}", file=sys.stderr)
    training_input = TrainingInput(job.input_fn(ModeKeys.TRAIN), max_steps)
    progress = ProgressHook(training_input.last_step, flag_values.batch_size)
    try:
        job.estimator.train(training_input, hooks=[times, progress], max_steps=max_steps)
    finally:
        progress.close()
    return times


def _summarize(job: "Job", flag_values: absl_flags.FlagValues, times: "TimeHistory") -> None:
    from estimator_train import ModeKeys

    metrics = job.estimator.evaluate(job.input_fn(ModeKeys.EVAL), steps=flag_values.eval_steps)
    rows = results.rows_of(metrics)
    if times.times:
        rows["training"] = times.report("images" if flag_values.preset else "examples")
    rows["model_dir"] = job.estimator.model_dir
    if saved_model := job.export():
        rows["saved_model"] = saved_model
    print(results.table(rows))
