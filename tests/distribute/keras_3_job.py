"""A Keras 3 ConvNet, that of the tutorial, in a cluster: `keras_3_job.py MODEL_DIR STEPS BATCH`.

The variable STRATEGY chooses: multi_worker, parameter_server (the v1 strategy), or none. The chief
prints the losses of all steps at the end, and the process that evaluates last the accuracy.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import estimator_train as est

tf1 = tf.compat.v1
STRATEGIES = {
    "multi_worker": tf.distribute.MultiWorkerMirroredStrategy,
    "parameter_server": tf1.distribute.experimental.ParameterServerStrategy,
    "none": lambda: None,
}


def build() -> keras.Model:
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            keras.Input((28, 28)),
            keras.layers.Reshape((28, 28, 1)),
            keras.layers.Conv2D(8, 3, activation="relu", strides=2),
            keras.layers.Flatten(),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dense(10),
        ]
    )
    model.compile(
        keras.optimizers.SGD(0.01, momentum=0.5),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def input_fn(
    input_context: tf.distribute.InputContext | None = None, batch: int = 0
) -> tf.data.Dataset:
    """Batches of which each worker reads its part: together they are those of one process."""
    batch = batch or int(sys.argv[3])
    random = np.random.RandomState(0)
    y = random.randint(0, 10, 512)
    x = random.rand(512, 28, 28).astype(np.float32)
    rows_of_class = np.eye(14, dtype=np.float32)[y].repeat(2, axis=1)
    x += rows_of_class[:, :, None]
    data = tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(batch)
    if input_context is None:
        return data
    return data.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)


class PrintLosses(tf1.train.SessionRunHook):
    def begin(self) -> None:
        self._loss = tf1.get_collection(tf1.GraphKeys.LOSSES)[-1]
        self._losses: list[float] = []

    def before_run(self, run_context: Any) -> Any:
        return tf1.train.SessionRunArgs(self._loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._losses.append(float(run_values.results))

    def end(self, session: tf1.Session) -> None:
        print("losses:", *self._losses, flush=True)


def main() -> None:
    loop = os.environ.get("LOOP", "1")
    config = est.RunConfig(
        model_dir=sys.argv[1],
        save_checkpoints_steps=30,
        train_distribute=STRATEGIES[os.environ["STRATEGY"]](),
        experimental_max_worker_delay_secs=0,
        session_creation_timeout_secs=100,
        steps_per_loop="auto" if loop == "auto" else int(loop),
    )
    estimator = est.keras.model_to_estimator(build(), config=config)
    hooks = [] if "LOOP" in os.environ else [PrintLosses()]
    train = est.TrainSpec(input_fn, int(sys.argv[2]), hooks)
    evaluation = est.EvalSpec(
        lambda: input_fn(batch=64), steps=8, start_delay_secs=0, throttle_secs=1
    )
    result = est.train_and_evaluate(estimator, train, evaluation)
    if result:
        print("accuracy", float(result[0]["accuracy"]))


if __name__ == "__main__":
    main()
