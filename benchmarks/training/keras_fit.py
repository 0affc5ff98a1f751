"""Speed of the fit method of tf_keras."""

import time

from benchmarks.training.model import WINDOWS, TrainedModel, compute_steady_rate


def train_by_fit(model: TrainedModel, quick: bool) -> float:
    """Returns the steps per second of tf_keras's fit, with epochs of one window."""
    import tf_keras

    window = model.window(quick)
    marks: list[tuple[int, float]] = []
    callback = tf_keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: marks.append(((epoch + 1) * window, time.time()))
    )
    model.keras_model(tf_keras).fit(
        model.dataset(),
        epochs=WINDOWS,
        steps_per_epoch=window,
        callbacks=[callback],
        verbose=0,
    )
    return compute_steady_rate(marks, window)
