"""Training of an MLP with Keras callbacks, per epoch and per batch."""

from typing import Any

from benchmarks.training.callbacks import make_callbacks_benchmark


def _make_epoch_callbacks(directory: str) -> list[Any]:
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


def _make_batch_callbacks(directory: str) -> list[Any]:
    import tf_keras

    class Losses(tf_keras.callbacks.Callback):
        total = 0.0

        def on_train_batch_end(self, batch: int, logs: dict[str, float] | None = None) -> None:
            assert logs is not None
            self.total += logs["loss"]

    return [Losses()]


BENCHMARKS = (
    make_callbacks_benchmark(
        "callbacks_epochs",
        "train: the MLP with six callbacks of epochs of 800 steps",
        _make_epoch_callbacks,
    ),
    make_callbacks_benchmark(
        "callbacks_batches", "train: the MLP with a callback of batches", _make_batch_callbacks
    ),
)
