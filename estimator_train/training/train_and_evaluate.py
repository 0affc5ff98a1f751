"""`train_and_evaluate`: training with evaluations and exports, as one job that can be restarted."""

import os
import time
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train import cluster
from estimator_train.cluster import EVALUATOR, MASTER
from estimator_train.estimator import Estimator, check_estimator
from estimator_train.lifecycle.preemption import handle_preemption
from estimator_train.run_config import RunConfig
from estimator_train.training.evaluations import Evaluation, EvaluationListener
from estimator_train.training.evaluator import Finished, evaluate_continuously
from estimator_train.training.specs import EvalSpec, TrainSpec, check_specs
from estimator_train.training.stopping_hooks import StopAfterSeconds

_DELAY_SECS = 5
_MAX_DELAY_SECS = 60
_LOG = tf.get_logger()


def has_role(estimator: Estimator) -> bool:
    """Returns whether this process is a task of a cluster."""
    config = estimator.config
    return bool(config.cluster_spec) or config.task_type == cluster.EVALUATOR


def run_role(
    estimator: Estimator, train_spec: TrainSpec, specs: Sequence[EvalSpec]
) -> list[Evaluation] | None:
    """Runs this task's part of `train_and_evaluate`.

    Args:
      estimator: The Estimator.
      train_spec: The training.
      specs: The evaluations.

    Returns:
      The evaluations of an evaluator; None for all other roles.

    Raises:
      ValueError: The role is unknown.
    """
    role = estimator.config.task_type
    if role == cluster.EVALUATOR:
        return evaluate_continuously(estimator, train_spec, specs)
    if estimator.config.is_chief:
        with Finished(estimator.model_dir).mark_end():
            train(estimator, train_spec)
    elif role == cluster.WORKER:
        if not estimator.config.train_distribute:
            _delay_start(estimator)
        train(estimator, train_spec)
    elif role == cluster.PS:
        train(estimator, train_spec)  # It serves variables.
    else:
        known = [cluster.CHIEF, cluster.EVALUATOR, cluster.MASTER, cluster.PS, cluster.WORKER]
        raise ValueError(f"Task type {role} is not supported. Supported task types are {known}")
    return None


def train(
    estimator: Estimator,
    train_spec: TrainSpec,
    listeners: Sequence[tf.compat.v1.train.CheckpointSaverListener] = (),
) -> None:
    """Trains by a TrainSpec.

    Args:
      estimator: The Estimator.
      train_spec: The training.
      listeners: Further listeners, after those of the TrainSpec.
    """
    hooks = list(train_spec.hooks)
    if train_spec.max_time is not None:
        hooks.append(StopAfterSeconds(train_spec.max_time))
    estimator.train(
        train_spec.input_fn,
        hooks=hooks,
        max_steps=train_spec.max_steps,
        saving_listeners=[*train_spec.saving_listeners, *listeners],
    )


def _delay_start(estimator: Estimator) -> None:
    """Delays a worker of an asynchronous training, so that workers start one after another."""
    config = estimator.config
    longest = config.experimental_max_worker_delay_secs
    longest = _MAX_DELAY_SECS if longest is None else longest
    secs = min(longest, _DELAY_SECS * (config.task_id + 1))
    if secs > 0:
        _LOG.info("Waiting %d secs before starting training.", secs)
        time.sleep(secs)


def train_and_evaluate(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec | Sequence[EvalSpec]
) -> Any:
    """Trains, evaluates the checkpoints, and exports.

    Training waits while an evaluation runs. The last checkpoint is always evaluated and exported,
    whatever ended the training. In a cluster, as TF_CONFIG tells it, the chief and workers train,
    an evaluator evaluates and exports at the same time, a master does both in turn, and a ps
    keeps variables;
    each ends when the training has. Called again on the same model_dir, this continues from the
    latest checkpoint; a job that was killed after its last step gets its last evaluation and
    export.

    Args:
      estimator: The Estimator to train.
      train_spec: What to train on and for how long.
      eval_spec: What to evaluate and export, and when; or several such, whose names differ.

    Returns:
      The metrics of the last evaluation (as `Estimator.evaluate` returns them) and the list of what
      the exporters returned after it. If max_steps was reached before, nothing runs: the metrics
      are those that `history.jsonl` has for the latest checkpoint, or None, and the exports are
      None. With several EvalSpecs, a dict of each by the names of the specs. In a cluster the
      evaluator and a master return this, and all others None.

    Raises:
      TypeError: An argument is of a wrong type.
      ValueError: Names of EvalSpecs or of their exporters are not unique, the RunConfig has no
        checkpoints, or this process has a role in a cluster that cannot be run.
      DeadlineExceededError: Another process of the cluster did not come up.
    """
    check_estimator(estimator)
    specs = check_specs(train_spec, eval_spec)
    _check_one_evaluator(estimator.config)
    _LOG.info("Not using Distribute Coordinator.")
    with handle_preemption(estimator.config.preemption):  # Beyond the training: to its last export.
        evaluations: list[Evaluation] | None
        if estimator.config.task_type == MASTER:
            with Finished(estimator.model_dir).mark_end():
                evaluations = _run_local(estimator, train_spec, specs)
        elif has_role(estimator):
            evaluations = run_role(estimator, train_spec, specs)
        else:
            evaluations = _run_local(estimator, train_spec, specs)
    if evaluations is None:
        return None
    if isinstance(eval_spec, EvalSpec):
        return evaluations[0].metrics, evaluations[0].exports
    return (
        {evaluation.spec.name: evaluation.metrics for evaluation in evaluations},
        {evaluation.spec.name: evaluation.exports for evaluation in evaluations},
    )


def _check_one_evaluator(config: RunConfig) -> None:
    if config.task_type == EVALUATOR and config.task_id > 0:
        raise ValueError(
            "For distributed training, there can only be one `evaluator` task (with task id 0).  "
            f"Given task id {config.task_id}"
        )


def _run_local(
    estimator: Estimator, train_spec: TrainSpec, specs: Sequence[EvalSpec]
) -> list[Evaluation]:
    """Trains and evaluates in this process."""
    _LOG.info("Running training and evaluation locally (non-distributed).")
    _LOG.info(
        "Start train and evaluate loop. The evaluate will happen after every checkpoint. "
        "Checkpoint frequency is determined based on RunConfig arguments: save_checkpoints_steps "
        "%s or save_checkpoints_secs %s.",
        estimator.config.save_checkpoints_steps,
        estimator.config.save_checkpoints_secs,
    )
    evaluations = [Evaluation(estimator, spec) for spec in specs]
    check_metrics = _WatchedMetrics(train_spec, [estimator.eval_dir(spec.name) for spec in specs])
    unfinished = _Unfinished(estimator.model_dir)
    was_cut_off = unfinished.exists()
    listener = EvaluationListener(evaluations, train_spec.max_steps, check_metrics)
    train(estimator, train_spec, [unfinished, listener])
    for evaluation in evaluations:
        if was_cut_off and evaluation.metrics is None:
            evaluation.run(is_final=True)
    unfinished.remove()
    if evaluations[0].metrics is not None:
        check_metrics.warn()
    for evaluation in evaluations:
        if evaluation.metrics is None:
            evaluation.read_recorded()
    return evaluations


class _WatchedMetrics:
    """Metrics that early stopping watches; checked once, after the first evaluations."""

    def __init__(self, train_spec: TrainSpec, eval_dirs: Sequence[str]) -> None:
        watched = [getattr(hook, "watched_metric", None) for hook in train_spec.hooks]
        self._unchecked = [metric for metric in watched if metric is not None]
        self._eval_dirs = eval_dirs

    def __call__(self) -> None:
        while self._unchecked:
            self._unchecked.pop().check_written(self._eval_dirs)

    def warn(self) -> None:
        """Logs the failed check as a warning, if training ended with its first evaluation."""
        try:
            self()
        except ValueError as error:
            _LOG.warning("%s", error)


class _Unfinished(tf.compat.v1.train.CheckpointSaverListener):
    """Listener that keeps a file in model_dir from the start of a training to its last export.

    A restarted job finds the file if the last checkpoint is not evaluated yet.
    """

    def __init__(self, model_dir: str) -> None:
        self._path = os.path.join(model_dir, "train_and_evaluate.unfinished")

    def exists(self) -> bool:
        return tf.io.gfile.exists(self._path)

    def begin(self) -> None:
        # The directory may have been removed after a summary writer opened it.
        tf.io.gfile.makedirs(os.path.dirname(self._path))
        with tf.io.gfile.GFile(self._path, "w") as file:
            file.write("Training has begun; its last evaluation and export are to come.\n")

    def remove(self) -> None:
        if self.exists():
            tf.io.gfile.remove(self._path)
