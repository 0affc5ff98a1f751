"""Trains a linear model in the cluster of the environment: STRATEGY STEPS MODEL_DIR [RUNS].

It trains until a step. Each step takes at least 20 ms, so that a signal finds the job in training;
in the runs before the one of number RUNS, those after the first hundred take half a second, so
that it does so on a busy machine too. A job of an array adds its number to MODEL_DIR. Each start of
the chief adds its global step to MODEL_DIR/starts.txt.
"""

import os
import sys
import time
from pathlib import Path

import tensorflow as tf

import estimator_train as est


class SlowSteps(tf.compat.v1.train.SessionRunHook):
    """Hook that makes steps slow, and writes where training starts."""

    def begin(self):
        self.steps, self.is_last_run = 0, True

    def after_create_session(self, session, coord):
        if estimator.config.is_chief:
            starts = Path(model_dir, "starts.txt")
            with starts.open("a") as file:
                file.write(f"{session.run(tf.compat.v1.train.get_global_step())}\n")
            self.is_last_run = len(starts.read_text().split()) >= int(runs)

    def after_run(self, run_context, run_values):
        self.steps += 1
        time.sleep(0.02 if self.is_last_run or self.steps < 100 else 0.5)


def input_fn():
    rows = {"x": [[number / 8] for number in range(8)]}, [[number / 4] for number in range(8)]
    return tf.data.Dataset.from_tensor_slices(rows).repeat().batch(4)


strategy, steps, model_dir, runs = [*sys.argv[1:], "1"][:4]
model_dir += os.environ.get("SLURM_ARRAY_TASK_ID", "")
synchronous = tf.distribute.MultiWorkerMirroredStrategy if strategy == "sync" else None
config = est.RunConfig(
    model_dir,
    train_distribute=synchronous() if synchronous else None,
    save_checkpoints_steps=50,
    keep_checkpoint_max=None,
)
x = tf.feature_column.numeric_column("x")
estimator = est.LinearRegressor([x], config=config)
est.train_and_evaluate(
    estimator,
    est.TrainSpec(input_fn, max_steps=int(steps), hooks=[SlowSteps()]),
    est.EvalSpec(input_fn, steps=1, start_delay_secs=0, throttle_secs=1),
)
print("ended", flush=True)
