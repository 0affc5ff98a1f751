"""A linear regression for a cluster that is killed: `cluster_job.py DIRECTORY async|sync STEPS`.

Each task notes its process (`TASK.pid`) and the global steps of its sessions, each with its time
(`TASK.steps`: "restored N", "start N", then "made N" for each step); whoever evaluates last notes
the loss (`losses`). With MODEL=keras_3 in the environment the model is one of Keras 3; SAVE_STEPS
and STEP_SECS change the interval of the checkpoints and the pause after each step.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

SAVE_STEPS = 40
STEP_SECS = 0.002
NOISE = 0.1
RATES = (0.1, 0.001)  # Falling from one to the other, so that the last loss says little of chance.


def task_name() -> str:
    task = json.loads(os.environ["TF_CONFIG"])["task"]
    return f"{task['type']}-{task['index']}"


def data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns 512 rows, and a linear function of these rows with noise of variance NOISE ** 2."""
    random = np.random.RandomState(seed)
    x = random.randn(512, 3).astype(np.float32)
    y = x @ [[1.0], [-2.0], [0.5]] + NOISE * random.randn(512, 1)
    return x, y.astype(np.float32)


def keras_3_model(steps: int) -> Any:
    import keras

    rates = keras.optimizers.schedules.ExponentialDecay(RATES[0], steps, RATES[1] / RATES[0])
    model = keras.Sequential([keras.Input([3]), keras.layers.Dense(1, use_bias=False)])
    model.compile(keras.optimizers.SGD(rates), "mse")
    return model


def main() -> None:
    directory, kind, steps = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    written = directory / f"{task_name()}.pid.part"
    written.write_text(str(os.getpid()))
    written.replace(directory / f"{task_name()}.pid")

    import tensorflow as tf

    import estimator_train as est

    tf1 = tf.compat.v1

    notes = (directory / f"{task_name()}.steps").open("a", buffering=1)

    def note(what: str, step: int) -> None:
        print(what, int(step), time.time(), file=notes)

    restore = tf1.train.Saver.restore

    def noted_restore(saver: tf1.train.Saver, session: tf1.Session, path: str) -> None:
        # Before: what others make from here on is not lost.
        note("restored", tf.train.load_variable(path, "global_step"))
        restore(saver, session, path)

    tf1.train.Saver.restore = noted_restore

    class Note(tf1.train.SessionRunHook):
        """Writes down each step, and leaves the others their turn."""

        def begin(self) -> None:
            self._step = tf1.train.get_global_step()

        def after_create_session(self, session: Any, coord: Any) -> None:
            note("start", session.run(self._step))

        def before_run(self, run_context: Any) -> Any:
            return tf1.train.SessionRunArgs(self._step)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            note("made", run_context.session.run(self._step))
            time.sleep(float(os.environ.get("STEP_SECS", STEP_SECS)))

    def model_fn(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
        weights = tf1.get_variable("weights", [3, 1], initializer=tf1.zeros_initializer())
        loss = tf.reduce_mean((features @ weights - labels) ** 2)
        step = tf1.train.get_global_step()
        rate = tf1.train.exponential_decay(RATES[0], step, steps, RATES[1] / RATES[0])
        train_op = tf1.train.GradientDescentOptimizer(rate).minimize(loss, step)
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def drawn_rows() -> tf.data.Dataset:
        # No epochs: they would restart with a task, so that rows would be read unevenly.
        x, y = map(tf.constant, data(1))

        def draw(_: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            which = tf.random.uniform([8], 0, len(x), tf.int32)
            return tf.gather(x, which), tf.gather(y, which)

        return tf.data.Dataset.counter().map(draw)

    def other_rows() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices(data(2)).batch(128)

    strategy = tf.distribute.MultiWorkerMirroredStrategy() if kind == "sync" else None
    config = est.RunConfig(
        str(directory / "model"),
        save_checkpoints_steps=int(os.environ.get("SAVE_STEPS", SAVE_STEPS)),
        train_distribute=strategy,
        experimental_max_worker_delay_secs=0,
        session_creation_timeout_secs=200,
    )
    if os.environ.get("MODEL") == "keras_3":
        estimator = est.keras.model_to_estimator(keras_3_model(steps), config=config)
    else:
        estimator = est.Estimator(model_fn, config=config)
    result = est.train_and_evaluate(
        estimator,
        est.TrainSpec(drawn_rows, steps, [Note()]),
        est.EvalSpec(other_rows, steps=None, start_delay_secs=0, throttle_secs=0),
    )
    if result:
        found = {name: float(value) for name, value in result[0].items()}
        (directory / "losses").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
