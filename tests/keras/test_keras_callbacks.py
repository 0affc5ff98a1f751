"""tf_keras callbacks as hooks: they see and change the same values as in fit.

These tests cover `keras/callback_runner.py`, `keras/observation.py`,
`keras/observation.py`, `tf_keras/graph_builder.py` and `tf_keras/model_fn.py`.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from small_models import X, Y, batches, dense, evaluated

import estimator_train as est
from estimator_train import hooks, keras

callbacks = tf_keras.callbacks
PER_EPOCH = 4


def build() -> Any:
    tf_keras.utils.set_random_seed(1)
    return tf_keras.Sequential(
        [
            tf_keras.layers.Dense(3, activation="tanh", input_shape=(4,), name="hidden"),
            tf_keras.layers.BatchNormalization(name="norm"),
            tf_keras.layers.Dense(1, name="out"),
        ]
    )


def fitted(given: list[Any], epochs: int = 4, **arguments: Any) -> Any:
    model = build()
    model.compile(tf_keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
    options = tf.data.Options()
    options.autotune.enabled = False  # A tuned input now and then waits half a minute to be closed.
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(8).with_options(options)
    model.fit(data, epochs=epochs, verbose=0, callbacks=given, **arguments)
    return model


def trained(given: list[Any], epochs: int = 4, **arguments: Any) -> tuple[Any, Any]:
    model_fn = keras.model_fn(build, "mse", tf_keras.optimizers.Adam(0.01), ["mae"])
    estimator = est.Estimator(model_fn, params={})
    hook = hooks.KerasCallbacks(given, PER_EPOCH, epochs=epochs, **arguments)
    estimator.train(batches(repeat=epochs), hooks=[hook])
    return estimator, hook


def rate(epoch: int) -> float:
    return [1e-2, 1e-3, 1e-3, 1e-4][epoch]


class Notes(callbacks.Callback):
    """Prints, so to say, the learning rate at each epoch's end."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[Any] = []

    def on_train_begin(self, logs: Any = None) -> None:
        self.notes.append("begin")

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.notes.append(("epoch", epoch))

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        lr = round(float(self.model.optimizer.lr.numpy()), 6)
        kernel = self.model.layers[0].kernel.numpy()
        self.notes.append((epoch, lr, sorted(logs), float(np.abs(kernel).sum())))

    def on_train_end(self, logs: Any = None) -> None:
        self.notes.append("end")


class OfBatches(callbacks.Callback):
    def __init__(self) -> None:
        super().__init__()
        self.losses: list[float] = []

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.losses.append(logs["loss"])


def all_of(directory: Path) -> list[Any]:
    return [
        callbacks.LearningRateScheduler(rate),
        callbacks.CSVLogger(str(directory / "log.csv")),
        callbacks.TensorBoard(str(directory / "board")),
        callbacks.ModelCheckpoint(str(directory / "{epoch}.weights.h5"), save_weights_only=True),
        callbacks.ModelCheckpoint(str(directory / "best.keras"), save_best_only=True),
        Notes(),
    ]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Returns the same callbacks run by fit and by an Estimator."""
    theirs, ours = tmp_path_factory.mktemp("fit"), tmp_path_factory.mktemp("estimator")
    theirs_given, ours_given = all_of(theirs), all_of(ours)
    model = fitted(theirs_given, validation_data=(X, Y), validation_batch_size=32)
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(32)
    estimator, hook = trained(ours_given, validation_data=data)
    return model, theirs, theirs_given, estimator, ours, ours_given, hook


def test_logs_and_history_equal_those_of_fit(both: Any) -> None:
    model, *_, hook = both
    expected = model.history.history
    assert list(hook.history) == list(expected)
    for name, values in expected.items():
        assert hook.history[name] == pytest.approx(values, rel=1e-5), name


def test_weights_equal_those_of_fit(both: Any) -> None:
    model, _, _, estimator, *_ = both
    for variable in model.weights:
        ours = estimator.get_variable_value(variable.name.partition(":")[0])
        np.testing.assert_allclose(ours, variable.numpy(), rtol=1e-5, atol=1e-7)


def test_user_callbacks_get_the_logs_of_fit(both: Any) -> None:
    _, _, theirs, _, _, ours, _ = both
    assert theirs[-1].notes[:2] == ours[-1].notes[:2] == ["begin", ("epoch", 0)]
    assert len(theirs[-1].notes) == len(ours[-1].notes)
    for expected, found in zip(theirs[-1].notes, ours[-1].notes, strict=True):
        if len(expected) == 4:
            assert found[:3] == expected[:3]
            assert found[3] == pytest.approx(expected[3], rel=1e-5)
        else:
            assert found == expected


def test_files_equal_those_of_fit(both: Any) -> None:
    _, theirs, _, _, ours, *_ = both
    assert sorted(p.name for p in theirs.iterdir()) == sorted(p.name for p in ours.iterdir())
    rows = [(d / "log.csv").read_text().splitlines() for d in (theirs, ours)]
    assert rows[0][0] == rows[1][0]
    for expected, found in zip(rows[0][1:], rows[1][1:], strict=True):
        assert list(map(float, found.split(","))) == pytest.approx(
            list(map(float, expected.split(","))), rel=1e-5
        )
    assert _tags(ours / "board") == _tags(theirs / "board")


@pytest.mark.long
def test_saved_models_evaluate_and_continue_as_those_of_fit(both: Any) -> None:
    _, theirs, _, _, ours, *_ = both
    assert all(zipfile.is_zipfile(d / "best.keras") for d in (theirs, ours))
    models = [tf_keras.models.load_model(d / "best.keras") for d in (theirs, ours)]
    for model in models:
        model.fit(X, Y, epochs=2, shuffle=False, verbose=0)
    results = [model.evaluate(X, Y, verbose=0, return_dict=True) for model in models]
    assert results[1] == pytest.approx(results[0], rel=1e-5)
    assert models[1].optimizer.iterations == models[0].optimizer.iterations
    weights = build()
    weights.load_weights(ours / "2.weights.h5")


def _tags(directory: Path) -> set[tuple[str, int]]:
    found = set()
    for path in directory.rglob("*.tfevents.*"):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            tags = (value.tag for value in event.summary.value)
            found |= {(tag, event.step) for tag in tags if tag.startswith("epoch_")}
    return found


@pytest.mark.long
def test_training_stops_early_with_the_best_weights() -> None:
    def stopping() -> Any:
        return callbacks.EarlyStopping(
            "loss", patience=2, min_delta=100.0, restore_best_weights=True
        )

    model = fitted([stopping()], epochs=8)
    estimator, hook = trained([stopping()], epochs=8)
    assert len(hook.history["loss"]) == len(model.history.history["loss"]) == 3
    value = estimator.get_variable_value("hidden/kernel")
    np.testing.assert_allclose(value, model.layers[0].kernel, rtol=1e-5)


@pytest.mark.long
def test_the_learning_rate_falls_on_a_plateau_and_stays_in_the_checkpoint() -> None:
    reduce = callbacks.ReduceLROnPlateau("loss", factor=0.1, patience=1, min_delta=100.0)
    estimator, hook = trained([reduce], epochs=3)
    assert hook.history["lr"] == pytest.approx([0.01, 0.01, 0.001])
    # Read and set again after the last epoch.
    seen = []
    read = callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: seen.append((epoch, float(hook_lr()), logs["loss"]))
    )

    def hook_lr() -> Any:
        return tf_keras.backend.get_value(read.model.optimizer.lr)

    estimator.train(batches(), hooks=[hooks.KerasCallbacks([read], PER_EPOCH)])
    assert [(epoch, lr) for epoch, lr, _ in seen] == [(3, pytest.approx(0.0001))]


class KeepsLayers(callbacks.Callback):
    """Callback that keeps layers, as those that prune do, and does not use the model later."""

    def on_train_begin(self, logs: Any = None) -> None:
        self.layers = list(self.model.layers)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        kernel = self.layers[0].kernel
        kernel.assign(kernel * [1.0, 1.0, 0.0])


@pytest.mark.long
def test_callbacks_that_keep_layers_read_and_set_the_weights_of_the_training() -> None:
    estimator, _ = trained([KeepsLayers()], epochs=2)
    kernel = estimator.get_variable_value("hidden/kernel")
    expected = fitted([KeepsLayers()], epochs=2).layers[0].kernel.numpy()
    assert not expected[:, 2].any()
    np.testing.assert_allclose(kernel, expected, atol=1e-6)


def test_a_callback_that_sets_another_setting_of_the_optimizer_is_one_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """In fit too, steps that are traced keep the earlier value."""

    class SetsDecay(callbacks.Callback):
        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            self.model.optimizer.weight_decay = 0.5
            self.model.optimizer.learning_rate = 0.01

    trained([SetsDecay(), Notes()], epochs=2)
    found = [line for line in caplog.messages if "model.optimizer" in line]
    assert len(found) == 1
    assert found[0].startswith("A callback set weight_decay of model.optimizer, which does not ")


class ReadsSlots(callbacks.Callback):
    """Callback that reads slots of the optimizer, and keeps its learning rate."""

    def on_train_begin(self, logs: Any = None) -> None:
        self.seen: list[float] = []
        self.rate = self.model.optimizer.learning_rate

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        optimizer = self.model.optimizer
        assert isinstance(optimizer, tf_keras.optimizers.Optimizer)
        slots = [slot for slot in optimizer.variables if "hidden" in slot.name]
        self.seen += [float(np.abs(slot).sum()) for slot in slots] + [float(self.rate)]
        self.rate.assign(self.rate * 0.5)


def test_callbacks_read_slots_and_keep_the_learning_rate() -> None:
    ours, theirs = ReadsSlots(), ReadsSlots()
    trained([ours], epochs=2)
    fitted([theirs], epochs=2)
    assert len(ours.seen) == 10
    assert ours.seen == pytest.approx(theirs.seen, rel=1e-4)


def test_user_callbacks_get_ends_of_batches(caplog: pytest.LogCaptureFixture) -> None:
    own = OfBatches()
    _, hook = trained([own], epochs=2)
    assert len(own.losses) == 8
    assert own.losses[3::4] == pytest.approx(hook.history["loss"])
    assert "is slow compared to the batch time" not in caplog.text


def test_batches_are_seen_one_by_one_and_saved_every_few(tmp_path: Path) -> None:
    seen = []
    every = callbacks.LambdaCallback(on_batch_end=lambda batch, logs: seen.append((batch, logs)))
    path = str(tmp_path / "{epoch}-{batch}.weights.h5")
    saver = callbacks.ModelCheckpoint(path, save_weights_only=True, save_freq=3)
    _, hook = trained([every, saver], epochs=2)
    assert [batch for batch, _ in seen] == [0, 1, 2, 3] * 2
    assert seen[3][1]["loss"] == pytest.approx(hook.history["loss"][0])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["1-3.weights.h5", "2-2.weights.h5"]


class LosesSession(tf.compat.v1.train.SessionRunHook):
    """Hook that ends the session once, like a lost connection."""

    def __init__(self, runs: int) -> None:
        self._runs_left = runs

    def before_run(self, run_context: Any) -> None:
        self._runs_left -= 1
        if self._runs_left == 0:
            raise tf.errors.AbortedError(None, None, "lost")


def test_after_a_lost_session_callbacks_see_the_restored_weights() -> None:
    seen: list[Any] = []
    notes = callbacks.LambdaCallback()
    notes.on_train_batch_begin = lambda batch, logs: seen.append(notes.model.get_weights())
    model_fn = keras.model_fn(build, "mse", tf_keras.optimizers.Adam(0.01))
    estimator = est.Estimator(model_fn, config=est.RunConfig(save_checkpoints_steps=2), params={})
    hook = hooks.KerasCallbacks([notes], PER_EPOCH, epochs=1)
    estimator.train(batches(repeat=2), hooks=[hook, LosesSession(4)])
    kernels = [weights[0] for weights in seen]
    assert len(kernels) == 6  # At the steps 0, 1, 2 and 3, and again at 2 and 3.
    assert not np.array_equal(kernels[3], kernels[2])
    np.testing.assert_array_equal(kernels[4], kernels[2])


@pytest.mark.long
def test_callbacks_work_with_model_to_estimator_and_do_not_change_the_model() -> None:
    notes = Notes()
    model = dense(tf_keras.optimizers.SGD(0.05, momentum=0.9), metrics=["mae"])
    before = model.get_weights()
    estimator = keras.model_to_estimator(model)
    scheduler = callbacks.LearningRateScheduler(lambda epoch: 0.05 / (epoch + 1))
    hook = hooks.KerasCallbacks([scheduler, notes], PER_EPOCH)
    estimator.train(batches(repeat=2), hooks=[hook])
    for weight, other in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(weight, other)
    options = tf.data.Options()
    options.autotune.enabled = False  # A tuned input now and then waits half a minute to be closed.
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(8).with_options(options)
    model.fit(data, epochs=2, verbose=0, callbacks=[scheduler])
    assert hook.history["mae"] == pytest.approx(model.history.history["mae"], rel=1e-5)
    assert evaluated(estimator)["mae"] == pytest.approx(model.evaluate(X, Y, verbose=0)[1])


def linear(features: Any, labels: Any, mode: str) -> Any:
    kernel = tf.compat.v1.get_variable("kernel", [4, 1])
    loss = tf.reduce_mean((features @ kernel - labels) ** 2)
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
    step = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=step)


def test_model_fns_without_keras_support_callbacks_that_need_only_the_loss(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    stopping = callbacks.EarlyStopping("loss", patience=1, min_delta=1000.0)
    hook = hooks.KerasCallbacks([callbacks.CSVLogger(str(path)), stopping], PER_EPOCH)
    est.Estimator(linear).train(batches(repeat=9), hooks=[hook])
    assert [line.split(",")[0] for line in path.read_text().splitlines()] == ["epoch", "0", "1"]


@pytest.mark.parametrize(
    ("callback", "text"),
    [
        (callbacks.ModelCheckpoint("x.keras"), r"ModelCheckpoint needs a Keras model.*RunConfig"),
        (callbacks.LearningRateScheduler(rate), "LearningRateScheduler needs a Keras model"),
        (callbacks.EarlyStopping(restore_best_weights=True), "keep_best"),
    ],
)
def test_callbacks_that_need_a_model_are_rejected_without_one(callback: Any, text: str) -> None:
    hook = hooks.KerasCallbacks([callback], PER_EPOCH)
    with pytest.raises(ValueError, match=text):
        est.Estimator(linear).train(batches(), hooks=[hook])


@pytest.mark.long
def test_callbacks_that_set_the_learning_rate_are_rejected_for_several_optimizers() -> None:
    seen = []
    model_fn = keras.model_fn(build, "mse", {"hidden": "sgd", ".*": "adam"})
    estimator = est.Estimator(model_fn, params={})
    hook = hooks.KerasCallbacks([callbacks.LearningRateScheduler(rate)], PER_EPOCH)
    with pytest.raises(ValueError, match="LearningRateScheduler sets.*optimizers.schedules"):
        estimator.train(batches(), hooks=[hook])
    own = callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(logs["loss"]))
    estimator.train(batches(), hooks=[hooks.KerasCallbacks([own], PER_EPOCH)])
    assert len(seen) == 1


def test_callbacks_with_an_equivalent_setting_are_rejected() -> None:
    with pytest.raises(ValueError, match=r"BackupAndRestore cannot run.*hooks\.BackupAndRestore"):
        hooks.KerasCallbacks([callbacks.BackupAndRestore("x")], 4)
    with pytest.raises(ValueError, match="save_summary_steps"):
        hooks.KerasCallbacks([callbacks.TensorBoard("x", update_freq="batch")], 4)
    with pytest.raises(TypeError, match="must be Keras Callbacks"):
        hooks.KerasCallbacks([print], 4)
    with pytest.raises(ValueError, match="steps_per_epoch must be positive, got 0"):
        hooks.KerasCallbacks([], 0)
