"""Two synchronous workers: `input_job.py MODEL_DIR SETTING=VALUE [ROLE:STEP ...]`.

The setting of RunConfig says when checkpoints are saved. Each ROLE:STEP has that task kill itself,
as the operating system kills, at that global step. The checkpoint knows the ids that each step saw.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train as est
import input_fns

ROWS, BATCH, EPOCHS, WORKERS = 120, 4, 3, 2
STEPS = ROWS * EPOCHS // (BATCH * WORKERS)
tf1 = tf.compat.v1


def model_fn(features: tf.Tensor, mode: str) -> est.EstimatorSpec:
    step = tf1.train.get_or_create_global_step()
    worker = tf.distribute.get_replica_context().replica_id_in_sync_group
    history = tf1.get_variable(
        "history",
        [STEPS, BATCH * WORKERS],
        tf.int64,
        tf1.zeros_initializer(),
        trainable=False,
        aggregation=tf.VariableAggregation.SUM,
    )
    weight = tf1.get_variable("weight", [], initializer=tf1.zeros_initializer())
    loss = weight * tf.reduce_mean(tf.cast(features, tf.float32))
    columns = BATCH * tf.cast(worker, tf.int32) + tf.range(BATCH)
    places = tf.stack([tf.fill([BATCH], tf.cast(step, tf.int32)), columns], 1)
    ids = tf.scatter_nd(places, features + 1, [STEPS, BATCH * WORKERS])
    with tf.control_dependencies([history.assign_add(ids)]):
        train_op = tf1.train.GradientDescentOptimizer(0.0).minimize(loss, step)
    return est.EstimatorSpec(mode, features, loss, train_op)


def input_fn(input_context: tf.distribute.InputContext) -> tf.data.Dataset:
    return input_fns.arrays(
        np.arange(ROWS),
        batch_size=BATCH,
        shuffle=True,
        num_epochs=EPOCHS,
        drop_remainder=True,
        input_context=input_context,
    )


class Kill(est.SessionRunHook):
    """Kills this task at each of its steps, once."""

    def __init__(self, model_dir: str, name: str, steps: list[int]) -> None:
        self._marks = {step: Path(f"{model_dir}-{name}-{step}") for step in steps}

    def begin(self) -> None:
        self._step = tf1.train.get_global_step()

    def before_run(self, run_context: Any) -> Any:
        return tf1.train.SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        for step, mark in self._marks.items():
            if run_values.results >= step and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    model_dir, saving, *kills = sys.argv[1:]
    setting, _, value = saving.partition("=")
    config = est.RunConfig(
        model_dir=model_dir,
        **{setting: float(value)},
        save_input_position=True,
        train_distribute=tf.distribute.MultiWorkerMirroredStrategy(),
    )
    estimator = est.Estimator(model_fn, config=config)
    config = estimator.config
    name = f"{config.task_type}:{config.task_id}"
    pairs = [kill.rpartition(":") for kill in kills]
    steps = [int(step) for role, _, step in pairs if role == name]
    estimator.train(input_fn, hooks=[Kill(model_dir, name, steps)])


if __name__ == "__main__":
    main()
