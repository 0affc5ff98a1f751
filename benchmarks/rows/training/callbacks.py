"""An MLP trained with Keras callbacks, of epochs and of batches."""

from typing import Any

from benchmarks.training.callbacks import callbacks_benchmark


def _of_epochs(directory: str) -> list[Any]:
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


def _of_batches(directory: str) -> list[Any]:
    import tf_keras

    del directory

    class Losses(tf_keras.callbacks.Callback):
        total = 0.0

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.total += logs["loss"]

    return [Losses()]


BENCHMARKS = (
    callbacks_benchmark(
        "callbacks_epochs", "train: the MLP with six callbacks of epochs of 800 steps", _of_epochs
    ),
    callbacks_benchmark(
        "callbacks_batches", "train: the MLP with a callback of batches", _of_batches
    ),
)
