"""Names of `tensorflow.python.distribute.estimator_training`, for EasyRec and HybridBackend."""

from typing import Any

import estimator_train as est


def should_run_distribute_coordinator(config: est.RunConfig) -> bool:
    """Returns False: `train_and_evaluate` runs the tasks of a cluster itself."""
    del config
    return False


def init_run_config(config: est.RunConfig, tf_config: Any) -> None:
    """Does nothing: RunConfig reads TF_CONFIG itself."""
    del config, tf_config


def train_and_evaluate(
    estimator: est.Estimator, train_spec: est.TrainSpec, eval_spec: est.EvalSpec, executor_cls: Any
) -> Any:
    """Trains and evaluates with an object of the class of an executor.

    Args:
      estimator: The estimator.
      train_spec: Settings of the training.
      eval_spec: Settings of the evaluations.
      executor_cls: `_TrainingExecutor` or a subclass.
    """
    return executor_cls(estimator, train_spec, eval_spec).run()
