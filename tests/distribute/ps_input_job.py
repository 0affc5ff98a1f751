"""Asynchronous workers that record their examples: `ps_input_job.py MODEL_DIR`.

Each writes the ids of its steps to MODEL_DIR-ROLE-RUN.ids. The worker kills itself once, in its
step KILLED_AT; the chief makes few steps until the worker has made AFTER more.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train as est
import input_fns

ROWS, BATCH, SAVE_STEPS, MAX_STEPS = 60, 2, 10, 300
KILLED_AT, AFTER = 25, 10
tf1 = tf.compat.v1


def model_fn(features: tf.Tensor, mode: str) -> est.EstimatorSpec:
    weight = tf1.get_variable("weight", [], initializer=tf1.zeros_initializer())
    loss = weight * tf.reduce_mean(tf.cast(features, tf.float32))
    optimizer = tf1.train.GradientDescentOptimizer(0.0)
    train_op = optimizer.minimize(loss, tf1.train.get_global_step())
    tf1.add_to_collection("ids", features)
    return est.EstimatorSpec(mode, features, loss, train_op)


def input_fn(pipelines: int, pipeline: int) -> tf.data.Dataset:
    place = tf.distribute.InputContext(pipelines, pipeline)
    return input_fns.arrays(
        np.arange(ROWS),
        batch_size=BATCH,
        shuffle=True,
        seed=3,
        num_epochs=None,
        input_context=place,
    )


def run_of(path: Path) -> list[int]:
    return [int(word) for word in path.read_text().split()] if path.exists() else []


class NoteIds(tf1.train.SessionRunHook):
    """Writes down each step's ids; kills and holds back as the job says."""

    def __init__(self, model_dir: str, role: str) -> None:
        self._role, self._model_dir = role, model_dir
        paths = [Path(f"{model_dir}-{role}-{run}.ids") for run in (1, 2)]
        self._run = 2 if paths[0].exists() else 1
        self._own = paths[self._run - 1]
        self._own.touch()
        self._first_of_worker = Path(f"{model_dir}-worker-1.ids")
        self._second_of_worker = Path(f"{model_dir}-worker-2.ids")

    def begin(self) -> None:
        self._ids, self._steps = tf1.get_collection("ids")[0], 0
        self._global_step = tf1.train.get_global_step()

    def before_run(self, run_context: Any) -> Any:
        is_slow = self._role == "chief" and self._is_waited_for()
        # Slower still when the worker is killed: it restarts before the chief makes all steps.
        is_killed = len(run_of(self._first_of_worker)) >= KILLED_AT * BATCH
        time.sleep((1.0 if is_killed else 0.2) if is_slow else 0.01)
        return tf1.train.SessionRunArgs([self._ids, self._global_step])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        ids, global_step = run_values.results
        self._steps += 1
        with self._own.open("a") as file:
            file.write(" ".join(map(str, ids)) + "\n")
        if (self._role, self._run, self._steps) == ("worker", 1, KILLED_AT):
            # The chief's last checkpoint, which a thread writes, is one of the last steps.
            while self._read_saved_step() < global_step - SAVE_STEPS:
                time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGKILL)

    def _read_saved_step(self) -> int:
        path = tf.train.latest_checkpoint(self._model_dir)
        return int(path.rpartition("-")[2]) if path else -1

    def _is_waited_for(self) -> bool:
        return len(run_of(self._second_of_worker)) < AFTER * BATCH


def main() -> None:
    (model_dir,) = sys.argv[1:]
    config = est.RunConfig(
        model_dir=model_dir,
        save_checkpoints_steps=SAVE_STEPS,
        save_input_position=True,
        experimental_max_worker_delay_secs=0,
    )
    estimator = est.Estimator(model_fn, config=config)
    role = estimator.config.task_type

    def inputs(input_context: tf.distribute.InputContext) -> tf.data.Dataset:
        return input_fn(input_context.num_input_pipelines, input_context.input_pipeline_id)

    train = est.TrainSpec(inputs, MAX_STEPS, [NoteIds(model_dir, role)])
    evaluation = est.EvalSpec(lambda: input_fn(1, 0), steps=1)
    est.train_and_evaluate(estimator, train, evaluation)


if __name__ == "__main__":
    main()
