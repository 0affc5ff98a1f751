"""An MLP trained with a callback that looks at each batch's logs."""

from typing import Any

from benchmarks.training.callbacks import callbacks_benchmark


def _made(directory: str) -> list[Any]:
    import tf_keras

    del directory

    class Losses(tf_keras.callbacks.Callback):
        total = 0.0

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.total += logs["loss"]

    return [Losses()]


BENCHMARK = callbacks_benchmark(
    "callbacks_batches", "train: the MLP with a callback of batches", _made
)
