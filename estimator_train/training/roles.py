"""The parts of `train_and_evaluate` that the tasks of a cluster run, except a master."""

import time
from collections.abc import Sequence

import tensorflow as tf

from estimator_train import cluster
from estimator_train.estimator import Estimator
from estimator_train.training.early_stopping.max_time import StopAfterSeconds
from estimator_train.training.evaluations import Evaluation
from estimator_train.training.evaluator import evaluate_continuously
from estimator_train.training.finished import Finished
from estimator_train.training.specs import EvalSpec, TrainSpec

_LOG = tf.get_logger()
_DELAY_SECS = 5
_MAX_DELAY_SECS = 60


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
