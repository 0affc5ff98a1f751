"""An MLP trained with callbacks that do their work at the ends of epochs."""

from typing import Any

from benchmarks.training.callbacks import callbacks_benchmark


def _made(directory: str) -> list[Any]:
    import tf_keras

    callbacks = tf_keras.callbacks
    return [
        callbacks.LearningRateScheduler(lambda epoch: 1e-3 / (epoch + 1)),
        callbacks.ReduceLROnPlateau("loss"),
        callbacks.EarlyStopping("loss", patience=1000),
        callbacks.CSVLogger(f"{directory}/log.csv"),
        callbacks.TensorBoard(f"{directory}/board"),
        callbacks.ModelCheckpoint(f"{directory}/{{epoch}}.keras"),
    ]


BENCHMARK = callbacks_benchmark(
    "callbacks_epochs", "train: the MLP with six callbacks of epochs of 800 steps", _made
)
