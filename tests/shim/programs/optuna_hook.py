"""TensorFlowPruningHook of Optuna: the evaluations that it reads, and trials that it ends."""

import json

import optuna
import tensorflow as tf
from _common import input_fn, make_estimator
from optuna_integration import TensorFlowPruningHook


class SecondIsPruned(optuna.pruners.BasePruner):
    def prune(self, study, trial):
        return trial.number == 1


def objective(trial):
    estimator = make_estimator(f"model_{trial.number}", save_checkpoints_steps=10)
    hook = TensorFlowPruningHook(trial, estimator, "average_loss", run_every_steps=10)
    tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(input_fn, max_steps=40, hooks=[hook]),
        tf.estimator.EvalSpec(input_fn, steps=2, throttle_secs=0, start_delay_secs=0),
    )
    return estimator.evaluate(input_fn, steps=2)["average_loss"]


study = optuna.create_study(pruner=SecondIsPruned())
study.optimize(objective, n_trials=2)
reports = [sorted(trial.intermediate_values) for trial in study.trials]
print(json.dumps([[trial.state.name for trial in study.trials], reports]))
