"""Models are rebuilt with all functions and settings of their layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
import tiers
from small_models import ROWS, X, Y, batches, compiled, evaluated, evaluated_eagerly, fit

from estimator_train.keras import load_trained, model_to_estimator

layers = tf_keras.layers
STEPS = 10
WORDS = np.array([["red"], ["green"], ["blue"], ["grey"]] * (ROWS // 4))
PIXELS = np.random.RandomState(2).rand(ROWS, 6, 6, 1).astype(np.float32)
NUMBERS = np.arange(ROWS * 5).reshape(ROWS, 5) % 7


class Counter(layers.Layer):
    """Counts its calls in training, and learns a factor that its constructor made."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = tf.Variable(2.0, name="factor")
        self.calls = tf.Variable(0.0, trainable=False, name="calls")

    def call(self, inputs: tf.Tensor, training: Any = None) -> tf.Tensor:
        if training:
            self.calls.assign_add(1.0)
        return inputs * self.factor


class Blocks(tf_keras.Model):
    def __init__(self, units: int = 3) -> None:
        super().__init__()
        self.blocks = [layers.Dense(units, activation="relu"), layers.BatchNormalization()]
        self.heads = {"out": layers.Dense(1)}

    def call(self, inputs: tf.Tensor, training: Any = None) -> tf.Tensor:
        hidden = self.blocks[1](self.blocks[0](inputs), training=training)
        return self.heads["out"](hidden)


def batch_norm() -> Any:
    return tf_keras.Sequential(
        [
            layers.Dense(3, use_bias=False, input_shape=(4,)),
            layers.BatchNormalization(momentum=0.5),
            layers.Dense(1),
        ]
    )


def nested() -> Any:
    inputs = tf_keras.Input([4])
    return tf_keras.Model(inputs, layers.Dense(1)(batch_norm()(inputs)))


def partly_frozen() -> Any:
    model = nested()
    model.layers[1].layers[0].trainable = False
    model.layers[1].layers[1].trainable = False
    return model


def used_twice() -> Any:
    left, right = tf_keras.Input([4], name="left"), tf_keras.Input([4], name="right")
    shared = layers.Dense(2, activation="tanh")
    both = layers.Concatenate()([shared(left), shared(right)])
    return tf_keras.Model({"left": left, "right": right}, layers.Dense(1)(both))


def tensor_operations() -> Any:
    inputs = tf_keras.Input([4])
    hidden = tf.nn.relu(layers.Dense(4)(inputs)) + inputs[:, :1]
    model = tf_keras.Model(inputs, layers.Dense(1)(tf.concat([hidden, inputs], 1)))
    model.add_loss(0.1 * tf.reduce_mean(hidden**2))
    return model


def adapted_words() -> Any:
    lookup = layers.StringLookup()
    lookup.adapt(WORDS[:3])
    inputs = tf_keras.Input([1], dtype=tf.string)
    return tf_keras.Model(inputs, layers.Dense(1)(layers.Embedding(4, 2)(lookup(inputs))[:, 0]))


def adapted_numbers() -> Any:
    normalization = layers.Normalization()
    normalization.adapt(X)
    return tf_keras.Sequential([layers.Input([4]), normalization, layers.Dense(1)])


def convolutions() -> Any:
    return tf_keras.Sequential(
        [
            layers.Rescaling(2.0, input_shape=(6, 6, 1)),
            layers.Conv2D(2, 3, kernel_regularizer="l2"),
            layers.BatchNormalization(),
            layers.GlobalAveragePooling2D(),
            layers.Dense(1),
        ]
    )


def recurrent() -> Any:
    return tf_keras.Sequential(
        [
            layers.Embedding(7, 3, mask_zero=True, input_length=5),
            layers.Bidirectional(layers.GRU(2)),
            layers.LayerNormalization(),
            layers.Dense(1),
        ]
    )


def frozen_subclass() -> Any:
    model = Blocks(4)
    model(X)
    model.blocks[0].trainable = model.blocks[1].trainable = False
    return model


def subclass_as_layer() -> Any:
    inputs = tf_keras.Input([4])
    return tf_keras.Model(inputs, layers.Dense(1)(Blocks(2)(inputs)))


def built_subclass() -> Any:
    model = Blocks(4)
    model(X)
    return model


def own_variables() -> Any:
    return tf_keras.Sequential([layers.Input([4]), Counter(), layers.Dense(1)])


MODELS: dict[str, tuple[Callable[[], Any], Any]] = {
    "batch norm": (batch_norm, X),
    "nested": (nested, X),
    "partly frozen": (partly_frozen, X),
    "used twice": (used_twice, {"left": X, "right": X[::-1].copy()}),
    "tensor operations": (tensor_operations, X),
    "adapted words": (adapted_words, WORDS),
    "adapted numbers": (adapted_numbers, X),
    "convolutions": (convolutions, PIXELS),
    "recurrent": (recurrent, NUMBERS),
    "subclassed": (built_subclass, X),
    "frozen subclass": (frozen_subclass, X),
    "subclass as layer": (subclass_as_layer, X),
    "own variables": (own_variables, X),
}


# Of each way in which a model is rebuilt, one.
FIRST = {"own variables"}


@pytest.mark.parametrize("name", tiers.first(FIRST, MODELS))
def test_trains_as_in_keras(name: str) -> None:
    build, features = MODELS[name]
    tf_keras.utils.set_random_seed(1)
    model = compiled(build(), tf_keras.optimizers.SGD(0.05), metrics=["mae"])
    estimator = model_to_estimator(model, checkpoint_format="saver")
    estimator.train(batches(features, repeat=None), steps=STEPS)
    fit(model, STEPS, features)
    expected = evaluated_eagerly(model, features)
    assert evaluated(estimator, features) == pytest.approx(expected, rel=1e-5)


@pytest.mark.long
def test_only_training_updates_statistics() -> None:
    model = compiled(batch_norm())
    estimator = model_to_estimator(model, checkpoint_format="saver")
    estimator.train(batches(), steps=1)
    (name,) = [n for n in estimator.get_variable_names() if n.endswith("moving_mean")]
    mean = (X[:8] @ model.get_weights()[0]).mean(axis=0)
    np.testing.assert_allclose(estimator.get_variable_value(name), 0.5 * mean, rtol=1e-5)
    before = evaluated(estimator)
    assert evaluated(estimator) == before


def test_layers_keep_their_own_state() -> None:
    estimator = model_to_estimator(compiled(own_variables()), checkpoint_format="saver")
    estimator.train(batches(repeat=None), steps=7)
    evaluated(estimator)
    assert estimator.get_variable_value("calls") == 7


@pytest.mark.long
def test_only_training_uses_dropout() -> None:
    dropped = tf_keras.Sequential([layers.Dropout(0.5, input_shape=(4,)), layers.Dense(1)])
    model = compiled(dropped)
    estimator = model_to_estimator(model)
    assert evaluated(estimator) == pytest.approx(evaluated_eagerly(model), rel=1e-6)
    losses = set()
    for _ in range(3):
        frozen = model_to_estimator(compiled(dropped, tf_keras.optimizers.SGD(0.0)))
        frozen.train(batches(), steps=1)
        path = f"{frozen.model_dir}/events.out.tfevents*"
        for event in tf.compat.v1.train.summary_iterator(tf.io.gfile.glob(path)[0]):
            losses |= {v.simple_value for v in event.summary.value if v.tag.startswith("loss")}
    assert len(losses) == 3
    assert evaluated_eagerly(model)["loss"] not in losses


def test_a_sequential_model_without_input_learns_it_from_the_features() -> None:
    for features in (X, {"any": X}):
        model = compiled(tf_keras.Sequential([layers.Dense(3), layers.Dense(1)]))
        estimator = model_to_estimator(model)
        estimator.train(batches(features), steps=1)
        names = estimator.get_variable_names()
        assert "layer_with_weights-1/kernel/.ATTRIBUTES/VARIABLE_VALUE" in names
    estimator = model_to_estimator(compiled(tf_keras.Sequential([layers.Dense(1)])))
    with pytest.raises(ValueError, match="takes one feature, but input_fn returned 2"):
        estimator.train(batches({"a": X, "b": X}), steps=1)


def test_a_sequential_model_takes_sparse_features() -> None:
    model = compiled(
        tf_keras.Sequential([tf_keras.Input(X.shape[1:], sparse=True), layers.Dense(1)])
    )
    estimator = model_to_estimator(model)
    seen = estimator.evaluate(lambda: tf.data.Dataset.from_tensors((tf.sparse.from_dense(X), Y)))
    assert seen["loss"] == pytest.approx(model.evaluate(X, Y, verbose=0), rel=1e-5)


def test_features_are_cast_to_the_dtype_of_the_input() -> None:
    model = compiled(nested(), metrics=["mae"])
    estimator = model_to_estimator(model)
    expected = evaluated_eagerly(model, X.astype(np.float64), Y)
    seen = evaluated(estimator, X.astype(np.float64), Y.astype(np.float64))
    assert seen == pytest.approx(expected, rel=1e-5)


def test_features_that_the_layers_cannot_take_are_refused_by_them() -> None:
    estimator = model_to_estimator(compiled(nested()))
    with pytest.raises(ValueError, match=r"expected shape=\(None, 4\), found shape=\(None, 3\)"):
        estimator.train(batches(X[:, :3]), steps=1)


def test_features_by_wrong_names_are_refused() -> None:
    estimator = model_to_estimator(compiled(used_twice()))
    with pytest.raises(KeyError) as error:
        estimator.train(batches({"left": X, "wrong": X}), steps=1)
    assert str(error.value) == (
        "The dictionary passed into features does not cover requested inputs keys defined in the "
        "keras model.\n\tExpected keys: {'left', 'right'}\n\tfeatures keys: {'left', 'wrong'}\n\t"
        "Missed keys: {'right'}"
    )
    with pytest.raises(ValueError, match=r"one entry for each of \['left', 'right'\]"):
        estimator.train(batches((X, X, X)), steps=1)


class Measured(layers.Layer):
    """Adds a metric that is an attribute, and the mean of a tensor."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.largest = tf_keras.metrics.Mean(name="largest")

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        self.add_metric(self.largest(tf.reduce_max(inputs)))
        self.add_metric(tf.reduce_min(inputs), name="smallest", aggregation="mean")
        return inputs


def test_a_layer_with_metrics_is_saved_without_their_values(tmp_path: Any) -> None:
    model = compiled(tf_keras.Sequential([tf_keras.Input([4]), Measured(), layers.Dense(1)]))
    estimator = model_to_estimator(model, model_dir=str(tmp_path / "job"))
    estimator.train(batches(repeat=None), steps=STEPS)
    fit(model, STEPS)
    expected = evaluated_eagerly(model)
    assert {"largest", "smallest"} <= set(expected)
    assert evaluated(estimator) == pytest.approx(expected, rel=1e-5)
    assert evaluated(estimator) == pytest.approx(expected, rel=1e-5)
    assert not [name for name in estimator.get_variable_names() if "largest" in name]
    assert evaluated_eagerly(load_trained(model, estimator)) == pytest.approx(expected, rel=1e-5)
