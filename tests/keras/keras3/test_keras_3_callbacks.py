"""Callbacks of Keras 3 in the training of an Estimator do as in `fit`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras
import tiers
from keras_3_models import built, dataset

import estimator_train as est

EPOCHS, STEPS = 3, 8


class Seen(keras.callbacks.Callback):
    """Records the logs of batches."""

    def __init__(self) -> None:
        super().__init__()
        self.logs: list[dict[str, float]] = []

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.logs.append(dict(logs, batch=batch))


def given(directory: Path, *more: Any) -> list[Any]:
    return [
        keras.callbacks.LearningRateScheduler(lambda epoch: 0.05 / (epoch + 1)),
        keras.callbacks.ModelCheckpoint(directory / "{epoch}.keras"),
        keras.callbacks.EarlyStopping("val_loss", patience=5, restore_best_weights=True),
        *more,
    ]


@pytest.mark.parametrize("name", tiers.first({"linear"}, ["linear", "convnet"]))
@pytest.mark.parametrize("sees_batches", tiers.first({False}, [False, True]))
def test_callbacks_read_and_set_the_same_values_as_in_fit(
    name: str, sees_batches: bool, tmp_path: Path
) -> None:
    ours, theirs = Seen(), Seen()
    hook = est.hooks.KerasCallbacks(
        given(tmp_path / "ours", *([ours] if sees_batches else [])),
        steps_per_epoch=STEPS,
        validation_data=lambda: dataset(name, 16),
        epochs=EPOCHS,
    )
    estimator = est.keras.model_to_estimator(built(name), model_dir=tmp_path / "run")
    estimator.train(lambda: dataset(name).repeat(), hooks=[hook])
    model = built(name)
    history = model.fit(
        dataset(name),
        epochs=EPOCHS,
        verbose=0,
        callbacks=given(tmp_path / "theirs", *([theirs] if sees_batches else [])),
        validation_data=dataset(name, 16),
    ).history
    assert set(hook.history) == set(history)
    for key, values in history.items():
        assert hook.history[key] == pytest.approx(values, rel=1e-4, abs=1e-5), key
    assert len(ours.logs) == len(theirs.logs) == (EPOCHS * STEPS if sees_batches else 0)
    for one, other in zip(ours.logs, theirs.logs, strict=True):
        assert one == pytest.approx(other, rel=1e-4, abs=1e-5)
    files = [keras.models.load_model(tmp_path / who / "2.keras") for who in ("ours", "theirs")]
    for one, other in zip(files[0].weights, files[1].weights, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)
    assert float(files[0].optimizer.learning_rate) == pytest.approx(0.025)


@pytest.mark.long
def test_callbacks_see_replicas(tmp_path: Path) -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    config = est.RunConfig(str(tmp_path), train_distribute=strategy)
    rates = keras.callbacks.LearningRateScheduler(lambda epoch: 0.05 / (epoch + 1))
    hook = est.hooks.KerasCallbacks([rates], steps_per_epoch=STEPS, epochs=EPOCHS)
    estimator = est.keras.model_to_estimator(built("linear"), config=config)
    estimator.train(lambda: dataset("linear", 4).repeat(), hooks=[hook])
    rates = keras.callbacks.LearningRateScheduler(lambda epoch: 0.05 / (epoch + 1))
    model = built("linear")
    history = model.fit(dataset("linear"), epochs=EPOCHS, verbose=0, callbacks=[rates]).history
    for key, values in history.items():
        assert hook.history[key] == pytest.approx(values, rel=1e-4), key


class ReadsSlots(keras.callbacks.Callback):
    """Records the sizes of the optimizer's variables, without its learning rate."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.seen = [float(np.abs(one).sum()) for one in self.model.optimizer.variables[2:]]


def test_callbacks_read_slots(tmp_path: Path) -> None:
    ours, theirs = ReadsSlots(), ReadsSlots()
    models = [built("linear"), built("linear")]
    for model in models:
        model.compile("adam", "mse")
    hook = est.hooks.KerasCallbacks([ours], steps_per_epoch=STEPS, epochs=1)
    estimator = est.keras.model_to_estimator(models[0], model_dir=tmp_path / "run")
    estimator.train(lambda: dataset("linear").repeat(), hooks=[hook])
    models[1].fit(dataset("linear"), epochs=1, verbose=0, callbacks=[theirs])
    assert any(ours.seen)
    assert ours.seen == pytest.approx(theirs.seen, rel=1e-4)


def test_callbacks_of_the_other_keras_are_refused(tmp_path: Path) -> None:
    hook = est.hooks.KerasCallbacks([tf_keras.callbacks.TerminateOnNaN()], steps_per_epoch=4)
    estimator = est.keras.model_to_estimator(built("linear"), model_dir=tmp_path)
    with pytest.raises(TypeError, match=r"TerminateOnNaN.*tf_keras.*Take .* from keras\.callbacks"):
        estimator.train(lambda: dataset("linear"), hooks=[hook], steps=1)


def test_averages_that_are_swapped_at_epochs_need_their_number(tmp_path: Path) -> None:
    def averaged() -> Any:
        model = built("linear")
        optimizer = keras.optimizers.SGD(0.01, use_ema=True, ema_momentum=0.5)
        model.compile(optimizer, "mse")
        return model

    swap = keras.callbacks.SwapEMAWeights(swap_on_epoch=True)
    with pytest.raises(ValueError, match=r"give KerasCallbacks\(epochs=\.\.\.\)"):
        est.hooks.KerasCallbacks([swap], steps_per_epoch=STEPS)
    hook = est.hooks.KerasCallbacks([swap], steps_per_epoch=STEPS, epochs=EPOCHS)
    estimator = est.keras.model_to_estimator(averaged(), model_dir=tmp_path)
    estimator.train(lambda: dataset("linear").repeat(), hooks=[hook])
    model = averaged()
    swap = keras.callbacks.SwapEMAWeights(swap_on_epoch=True)
    model.fit(dataset("linear"), epochs=EPOCHS, verbose=0, callbacks=[swap])
    trained = est.keras.load_trained(averaged(), estimator)
    for one, other in zip(trained.weights, model.weights, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)
