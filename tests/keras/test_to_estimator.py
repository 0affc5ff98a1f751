"""model_to_estimator: accepted and refused arguments, and the unchanged model.

These tests cover `compat/keras_lib.py`, `tf_keras/blueprint.py`, `tf_keras/family.py` and
`tf_keras/graph_calls.py`.
"""

from __future__ import annotations

import inspect
import logging
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
import tiers
from sleeps import replace_sleep
from small_models import X, Y, batches, compiled, dense, evaluated, evaluated_eagerly

import estimator_train as est
import estimator_train.compat.v1
from estimator_train.keras import estimator_from_fit, model_to_estimator

layers = tf_keras.layers


@tf_keras.saving.register_keras_serializable("tests")
class Registered(layers.Dense):
    pass


class Scale(layers.Layer):
    def __init__(self, factor: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.factor = factor

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        return inputs * self.factor

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "factor": self.factor}


class Branches(tf_keras.Model):
    def __init__(self, units: int = 3) -> None:
        super().__init__()
        self.first = [layers.Dense(units, activation="tanh"), layers.BatchNormalization()]
        self.last = layers.Dense(1)

    def call(self, inputs: Any, training: Any = None) -> Any:
        hidden = self.first[0](inputs["x"] if isinstance(inputs, dict) else inputs)
        return self.last(self.first[1](hidden, training=training))


def test_arguments_equal_those_of_tf_keras() -> None:
    ours, theirs = map(
        inspect.signature, (model_to_estimator, tf_keras.estimator.model_to_estimator)
    )
    assert [(p.name, p.default) for p in ours.parameters.values()] == [
        (p.name, p.default) for p in theirs.parameters.values()
    ]


def test_v1_has_the_v1_class_and_named_checkpoints(tmp_path: Path) -> None:
    v1 = estimator_train.compat.v1
    estimator = v1.keras.model_to_estimator(dense(), model_dir=str(tmp_path))
    assert type(estimator) is v1.Estimator
    assert isinstance(model_to_estimator(dense()), est.Estimator)
    names = [name for name, _ in tf.train.list_variables(str(tmp_path / "keras/keras_model.ckpt"))]
    assert "hidden/kernel" in names


@pytest.mark.parametrize("format_", tiers.first({"checkpoint"}, ["checkpoint", "saver"]))
def test_starts_from_the_weights_of_the_model(format_: str) -> None:
    model = compiled(
        tf_keras.Sequential(
            [layers.Dense(3, input_shape=(4,)), layers.BatchNormalization(), layers.Dense(1)]
        ),
        metrics=["mae"],
    )
    model.fit(X, Y, epochs=2, verbose=0)
    estimator = model_to_estimator(model, checkpoint_format=format_)
    assert evaluated(estimator) == pytest.approx(evaluated_eagerly(model), rel=1e-6)
    (name,) = model.output_names
    predicted = [row[name] for row in estimator.predict(batches(X, None))]
    np.testing.assert_allclose(predicted, model.predict(X, verbose=0), rtol=1e-5)
    estimator.train(batches(), steps=1)
    first = tf.train.load_checkpoint(f"{estimator.model_dir}/model.ckpt-0")
    found = [k for k in first.get_variable_to_shape_map() if "moving_mean" in k]
    np.testing.assert_array_equal(first.get_tensor(found[0]), model.layers[1].moving_mean)


def test_rejects_objects_that_are_not_keras_models() -> None:
    with pytest.raises(TypeError, match="must be a tf_keras Model, got 3 of type int"):
        model_to_estimator(3)


def test_starts_from_the_weights_of_a_subclassed_model() -> None:
    model = compiled(Branches(5), metrics=["mae"])
    model.fit(X, Y, epochs=2, verbose=0)
    estimator = model_to_estimator(model, checkpoint_format="saver")
    assert evaluated(estimator) == pytest.approx(evaluated_eagerly(model), rel=1e-6)


@pytest.mark.long
def test_starts_from_the_new_model_if_there_is_no_checkpoint(tmp_path: Path) -> None:
    model_to_estimator(dense(), model_dir=str(tmp_path))
    other = dense()
    other.set_weights([weight + 1.0 for weight in other.get_weights()])
    estimator = model_to_estimator(other, model_dir=str(tmp_path))
    assert evaluated(estimator) == pytest.approx(evaluated_eagerly(other), rel=1e-6)


@pytest.mark.long
def test_continues_from_a_checkpoint(tmp_path: Path) -> None:
    estimator = model_to_estimator(dense("adam"), model_dir=str(tmp_path))
    estimator.train(batches(), steps=3)
    trained = evaluated(estimator)
    again = model_to_estimator(dense("adam"), model_dir=str(tmp_path))
    assert evaluated(again) == trained
    again.train(batches(), steps=1)
    assert again.get_variable_value("estimator_global_step/.ATTRIBUTES/VARIABLE_VALUE") == 4


@pytest.mark.long
def test_does_not_change_the_model() -> None:
    model = dense("adam", metrics=["mae"])
    model.train_on_batch(X, Y)
    before, slots = model.get_weights(), [v.numpy() for v in model.optimizer.variables]
    estimator = model_to_estimator(model)
    estimator.train(batches(), steps=2)
    evaluated(estimator)
    for weight, other in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(weight, other)
    for slot, other in zip(model.optimizer.variables, slots, strict=True):
        np.testing.assert_array_equal(slot, other)
    model.fit(X, Y, verbose=0)
    assert model.predict(X, verbose=0).shape == (32, 1)
    assert layers.Dense(2)(X).shape == (32, 2)


@pytest.mark.parametrize("suffix", tiers.first({".keras"}, [".h5", ".keras", ""]))
@pytest.mark.filterwarnings("ignore:You are saving your model as an HDF5 file")
def test_loads_a_model_from_a_path(suffix: str, tmp_path: Path) -> None:
    tf_keras.utils.set_random_seed(1)
    model = compiled(
        tf_keras.Sequential([layers.Input([4]), Scale(3.0), Registered(1)]), metrics=["mae"]
    )
    path = tmp_path / f"model{suffix}"
    model.save(path)
    estimator = model_to_estimator(keras_model_path=path, custom_objects={"Scale": Scale})
    expected = evaluated_eagerly(model)
    assert evaluated(estimator) == pytest.approx(expected, rel=1e-6)
    estimator.train(batches(), steps=1)
    assert evaluated(estimator)["loss"] < expected["loss"]


def test_python_code_in_a_file_is_not_run(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    model = tf_keras.Sequential([tf_keras.Input([2]), tf_keras.layers.Lambda(lambda x: 2 * x)])
    model.compile("sgd", "mse")
    model.save(path)
    with pytest.raises(ValueError, match="Python `lambda`"):
        model_to_estimator(keras_model_path=path)
    with pytest.raises(ValueError, match="Python `lambda`"):
        est.keras.make_or_restore(lambda: model, tmp_path)


def test_refuses_a_path_on_cloud_storage() -> None:
    with pytest.raises(ValueError, match="'gs://bucket/m.h5' is on Google Cloud Storage"):
        model_to_estimator(keras_model_path="gs://bucket/m.h5")


def test_refuses_both_or_no_model() -> None:
    with pytest.raises(ValueError, match="Either `keras_model` or `keras_model_path`"):
        model_to_estimator()
    with pytest.raises(ValueError, match="but not both"):
        model_to_estimator(dense(), keras_model_path="model.h5")


def test_refuses_an_uncompiled_model() -> None:
    with pytest.raises(ValueError, match="has not been compiled yet. Please compile"):
        model_to_estimator(tf_keras.Sequential([layers.Dense(1, input_shape=(4,))]))


@pytest.mark.parametrize("make", [model_to_estimator, estimator_from_fit])
def test_refuses_an_unknown_checkpoint_format(make: Any) -> None:
    with pytest.raises(ValueError, match='must be one of "checkpoint" or "saver". Got other'):
        make(dense(), checkpoint_format="other")


def test_subclassed_models_need_named_checkpoints() -> None:
    with pytest.raises(ValueError, match="not supported with subclassed .* Pass checkpoint_format"):
        model_to_estimator(compiled(Branches()))
    # What fit has trained is not refused: its variables are there.
    trained = compiled(Branches())
    trained.fit(X, Y, verbose=0)
    estimator = estimator_from_fit(trained, checkpoint_format="checkpoint")
    assert evaluated(estimator) == pytest.approx(evaluated_eagerly(trained), rel=1e-5)


def test_rejects_a_subclassed_model_that_cannot_be_rebuilt() -> None:
    class Wraps(Branches):
        def __init__(self, first: Any) -> None:
            super().__init__()
            self.first[0] = first

    with pytest.raises(ValueError, match="Wraps.__init__ are no plain values.*get_config"):
        model_to_estimator(compiled(Wraps(layers.Dense(2))), checkpoint_format="saver")


def test_warns_of_a_rebuilt_model_that_computes_other_values(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = compiled(Branches())
    model.last = layers.Dense(2)
    model(X)
    estimator = model_to_estimator(model, checkpoint_format="saver")
    with caplog.at_level(logging.WARNING, "tensorflow"):
        estimator.train(batches(), steps=1)
    told = [line for line in caplog.messages if "rebuilt from its config they are" in line]
    assert len(told) == 1
    assert "Training starts from new weights." in told[0]


@pytest.mark.long
def test_warns_of_a_train_step_that_is_not_called(caplog: pytest.LogCaptureFixture) -> None:
    class Own(tf_keras.Model):
        def train_step(self, data: Any) -> Any:
            raise AssertionError("called")

    inputs = tf_keras.Input([4])
    model = compiled(Own(inputs, layers.Dense(1)(inputs)))
    model_to_estimator(model).train(batches(), steps=1)
    assert "Own has its own train_step, which an Estimator does not call" in caplog.text


def test_export_outputs_are_added_to_the_default_signature(tmp_path: Path) -> None:
    inputs = tf_keras.Input([4], name="x")
    outputs = [layers.Dense(1, name="score")(inputs), layers.Dense(2, name="other")(inputs)]
    estimator = model_to_estimator(
        compiled(tf_keras.Model(inputs, outputs)),
        export_outputs={"other": est.export.PredictOutput},
    )
    estimator.train(batches(X, (Y, np.repeat(Y, 2, axis=1))), steps=1)
    receiver = est.export.build_raw_serving_input_receiver_fn({"x": tf.TensorSpec([None, 4])})
    loaded = tf.saved_model.load(estimator.export_saved_model(str(tmp_path), receiver).decode())
    shapes = {
        name: {key: value.shape.as_list() for key, value in signature.structured_outputs.items()}
        for name, signature in loaded.signatures.items()
    }
    assert shapes["serving_default"] == {"score": [None, 1], "other": [None, 2]}
    assert shapes["other"] == {"output": [None, 2]}
    served = loaded.signatures["serving_default"](x=tf.constant(X))["score"]
    predicted = [row["score"] for row in estimator.predict(batches(X, None))]
    np.testing.assert_allclose(served, predicted, rtol=1e-5)


def test_rejects_export_outputs_of_another_type() -> None:
    with pytest.raises(TypeError, match=r"export_outputs\['out'\] must be a class .* got 3"):
        model_to_estimator(dense(), export_outputs={"out": 3})
    with pytest.raises(TypeError, match="export_outputs must be a dict, got 3"):
        model_to_estimator(dense(), export_outputs=3)
    estimator = model_to_estimator(dense(), export_outputs={"no": est.export.PredictOutput})
    with pytest.raises(KeyError, match=r"(?s)outputs keys: \{'out'\}.*Missed keys: \{'no'\}"):
        estimator.train(batches(), steps=1)


def test_tf_keras_model_to_estimator_returns_these_estimators() -> None:
    estimator = tf_keras.estimator.model_to_estimator(dense())
    assert isinstance(estimator, est.Estimator)
    estimator.train(batches(), steps=1)
    assert "estimator_global_step/.ATTRIBUTES/VARIABLE_VALUE" in estimator.get_variable_names()


@pytest.mark.long
def test_a_named_format_continues_from_an_object_based_checkpoint(tmp_path: Path) -> None:
    def make(checkpoint_format: str) -> Any:
        return model_to_estimator(dense(), model_dir=tmp_path, checkpoint_format=checkpoint_format)

    object_based = make("checkpoint").train(batches(), steps=2)
    named = make("saver")
    assert evaluated(named) == evaluated(object_based)
    named.train(batches(), steps=2)
    assert named.get_variable_value("global_step") == 4


def test_a_checkpoint_of_the_other_format_that_lacks_variables_is_named(tmp_path: Path) -> None:
    model_to_estimator(dense(), model_dir=tmp_path).train(batches(), steps=2)
    other = model_to_estimator(
        compiled(dense(), "adam"), model_dir=tmp_path, checkpoint_format="saver"
    )
    with pytest.raises(tf.errors.NotFoundError, match='has checkpoint_format="checkpoint"'):
        other.train(batches(), steps=2)


def test_a_temporary_storage_fault_does_not_lose_the_models_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stat, failed = os.stat, []

    def fail_once(path: Any, *args: Any, **kwargs: Any) -> Any:
        if str(path).endswith("keras_model.ckpt.index") and not failed:
            failed.append(path)
            raise OSError(116, "Stale file handle")
        return stat(path, *args, **kwargs)

    def exists(path: str) -> bool:  # As TensorFlow reports the fault.
        return not path.endswith("keras_model.ckpt.index")

    monkeypatch.setattr(os, "stat", fail_once)
    monkeypatch.setattr(tf.io.gfile, "exists", exists)
    replace_sleep(monkeypatch)
    model = dense()
    model.set_weights([weight + 1.0 for weight in model.get_weights()])
    estimator = model_to_estimator(model, model_dir=tmp_path)
    assert failed
    assert evaluated(estimator) == pytest.approx(evaluated_eagerly(model), rel=1e-6)


@pytest.mark.parametrize("checkpoint_format", ["checkpoint", "saver"])
def test_exports_with_serving_features_of_another_size(
    tmp_path: Path, checkpoint_format: str, caplog: pytest.LogCaptureFixture
) -> None:
    inputs = tf_keras.Input([4], name="x")
    model = compiled(tf_keras.Model(inputs, layers.Dense(1, name="out")(inputs)))
    estimator = model_to_estimator(model, checkpoint_format=checkpoint_format)
    receiver_fn = est.export.build_parsing_serving_input_receiver_fn(
        {"x": tf.io.FixedLenFeature([1], tf.float32)}
    )
    with caplog.at_level(logging.WARNING, "tensorflow"):
        path = estimator.export_saved_model(str(tmp_path), receiver_fn)
    assert "The weights of the checkpoint do not fit these features." in caplog.text
    exported = tf.train.load_checkpoint(f"{path.decode()}/variables/variables")
    assert [4, 1] in exported.get_variable_to_shape_map().values()
