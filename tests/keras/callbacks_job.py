"""Callbacks on synchronous workers: `callbacks_job.py DIR`; prints the last checkpoint."""

from __future__ import annotations

import sys
from typing import Any

import tensorflow as tf
import tf_keras
from small_models import BATCH, X, Y

import estimator_train as est

EPOCHS = 3


def build() -> Any:
    tf_keras.utils.set_random_seed(1)
    layers = tf_keras.layers
    hidden = layers.Dense(3, "tanh", input_shape=(4,), name="hidden")
    return tf_keras.Sequential([hidden, layers.Dense(1, name="out")])


def adam() -> Any:
    return tf_keras.optimizers.Adam(0.05)


def callbacks(directory: str, *, stopping: bool) -> list[Any]:
    """Callbacks that set the rate and write; or one that stops and goes back to the first epoch."""
    given = tf_keras.callbacks
    if stopping:
        return [given.EarlyStopping("loss", 100.0, patience=1, restore_best_weights=True)]
    return [
        given.LearningRateScheduler(lambda epoch: 0.05 / (epoch + 1)),
        given.ModelCheckpoint(f"{directory}/{{epoch}}.keras"),
        given.CSVLogger(f"{directory}/log.csv"),
    ]


def input_fn(input_context: tf.distribute.InputContext) -> tf.data.Dataset:
    """Returns a worker's part of each batch."""
    workers, mine = input_context.num_input_pipelines, input_context.input_pipeline_id
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(BATCH // workers)
    return data.shard(workers, mine).repeat()


def main() -> None:
    directory, stopping = sys.argv[1], sys.argv[2] == "stopping"
    config = est.RunConfig(
        f"{directory}/run",
        train_distribute=tf.distribute.MultiWorkerMirroredStrategy(),
        experimental_max_worker_delay_secs=0,
        session_creation_timeout_secs=100,
    )
    estimator = est.Estimator(est.keras.model_fn(build, "mse", adam(), ["mae"]), config=config)
    given = callbacks(directory, stopping=stopping)
    epochs = None if stopping else EPOCHS
    hook = est.hooks.KerasCallbacks(given, len(X) // BATCH, epochs=epochs, validation_data=(X, Y))
    est.train_and_evaluate(
        estimator, est.TrainSpec(input_fn, 100, hooks=[hook]), est.EvalSpec(input_fn, steps=1)
    )


if __name__ == "__main__":
    main()
