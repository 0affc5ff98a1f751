"""Trains a linear model until a step, in the cluster of the environment: STRATEGY STEPS MODEL_DIR.

Each step takes at least 20 ms, so that a signal finds the job in training. A job of an array adds
its number to MODEL_DIR. Each start of the chief adds its global step to MODEL_DIR/starts.txt.
"""

import os
import sys
import time
from pathlib import Path

import tensorflow as tf

import estimator_train as est


class SlowSteps(tf.compat.v1.train.SessionRunHook):
    """Hook that makes steps slow, and writes where training starts."""

    def after_create_session(self, session, coord):
        if estimator.config.is_chief:
            with Path(model_dir, "starts.txt").open("a") as file:
                file.write(f"{session.run(tf.compat.v1.train.get_global_step())}\n")

    def after_run(self, run_context, run_values):
        time.sleep(0.02)


def input_fn():
    rows = {"x": [[number / 8] for number in range(8)]}, [[number / 4] for number in range(8)]
    return tf.data.Dataset.from_tensor_slices(rows).repeat().batch(4)


strategy, steps, model_dir = sys.argv[1:]
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
