"""Interface of tuners for `tf.contrib.learn.learn_runner.tune`."""

import abc
from collections.abc import Callable
from typing import Any


class Tuner(abc.ABC):
    """Interface of a tuner of hyperparameters."""

    @abc.abstractmethod
    def next_trial(self) -> bool:
        """Begins the next trial; returns False if there is none."""

    @abc.abstractmethod
    def run_experiment(self, experiment_fn: Callable[..., Any]) -> None:
        """Creates the experiment of the trial with experiment_fn, and runs it."""
