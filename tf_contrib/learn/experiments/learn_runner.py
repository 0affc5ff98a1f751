"""`learn_runner` of `tf.contrib.learn`: creates experiments and calls their methods."""

from collections.abc import Callable
from typing import Any

from tf_contrib.learn.experiments.experiment import Experiment
from tf_contrib.learn.run_config import RunConfig
from tf_contrib.training.hparams import HParams


def run(
    experiment_fn: Callable[..., Experiment],
    output_dir: str | None = None,
    schedule: str | None = None,
    run_config: RunConfig | None = None,
    hparams: HParams | None = None,
) -> Any:
    """Creates an experiment and calls one of its methods.

    Args:
      experiment_fn: Function of run_config and hparams, or of output_dir, that returns an
        Experiment.
      output_dir: Directory of the model.
      schedule: Name of the method; `train_and_evaluate` by default.
      run_config: RunConfig with a model_dir.
      hparams: Hyperparameters; they require run_config.

    Raises:
      ValueError: Not exactly one of output_dir and run_config is given, an argument has the wrong
        type, or there is no such method.
      TypeError: experiment_fn is not callable, or returns no Experiment.
    """
    if (output_dir is None) == (run_config is None):
        raise ValueError("Exactly one of `output_dir` and `run_config` must be given.")
    if run_config is None:
        if not output_dir or hparams is not None:
            raise ValueError(
                "`output_dir` must be a directory, and `hparams` require a `run_config`."
            )
    elif not isinstance(run_config, RunConfig) or not run_config.model_dir:
        raise ValueError("`run_config` must be a tf.contrib.learn.RunConfig with a `model_dir`.")
    elif hparams is not None and not isinstance(hparams, HParams):
        raise ValueError("`hparams` must be `HParams` instance.")
    if not callable(experiment_fn):
        raise TypeError(f"Experiment builder '{experiment_fn}' is not callable.")
    arguments = (output_dir,) if run_config is None else (run_config, hparams)
    experiment = experiment_fn(*arguments)
    if not isinstance(experiment, Experiment):
        raise TypeError(f"Experiment builder returned no Experiment: {experiment}")
    method = getattr(experiment, schedule or "train_and_evaluate", None)
    if not callable(method) or (schedule or "").startswith("_"):
        raise ValueError(f"Schedule '{schedule}' is none of an Experiment's.")
    return method()


def tune(experiment_fn: Callable[..., Experiment], tuner: Any) -> None:
    """Calls the tuner for experiments until it has no next trial.

    Args:
      experiment_fn: Function of run_config and hparams that returns an Experiment.
      tuner: Tuner; see `tf.contrib.training.python.training.tuner.Tuner`.
    """
    while tuner.next_trial():
        tuner.run_experiment(experiment_fn)
