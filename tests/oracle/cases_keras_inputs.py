"""Behaviours of model_to_estimator: features and labels of any form and shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from cases import case
from cases_keras import dense
from jobs import Api, tiny_data, values

WORDS = np.array(["a", "b", "c", "a"])


def _sgd(api: Api) -> Any:
    return api.keras.optimizers.legacy.SGD(0.01)


def _verbs(estimator: Any, train_input: Callable[[], Any]) -> dict[str, Any]:
    """Trains 2 steps, evaluates and predicts one batch; returns all results."""
    estimator.train(train_input, steps=2)
    result = estimator.evaluate(train_input, steps=1)
    rows = estimator.predict(lambda: (train_input()[0], None), yield_single_examples=False)
    predicted = next(iter(rows))
    return {
        "loss": float(result["loss"]),
        "predictions": {key: value.tolist() for key, value in predicted.items()},
    }


def _of_arrays(name: str, give: Callable[[np.ndarray, np.ndarray], Any]) -> None:
    def run(api: Api, model_dir: str) -> Any:
        x, y = tiny_data()
        estimator = api.model_to_estimator(dense(api, optimizer=_sgd(api)), model_dir=model_dir)
        return _verbs(estimator, lambda: give(x, y[:, None]))

    run.__name__ = f"keras_input_fn_of_{name}"
    case(run)


_of_arrays("arrays", lambda x, y: (x, y))
_of_arrays("lists_of_arrays", lambda x, y: ([x], [y]))
_of_arrays("dicts_of_arrays", lambda x, y: ({"x": x}, {"out": y}))
_of_arrays("float64_arrays", lambda x, y: (x.astype(np.float64), y.astype(np.float64)))
_of_arrays("labels_of_rank_1", lambda x, y: (x, y[:, 0]))
_of_arrays("features_in_a_tensor_and_labels_in_an_array", lambda x, y: (tf.constant(x), y))
_of_arrays("features_of_wrong_names", lambda x, y: ({"wrong": x}, y))
_of_arrays("labels_of_wrong_names", lambda x, y: (x, {"wrong": y}))


def _two_inputs(api: Api) -> Any:
    layers = api.keras.layers
    left, right = api.keras.Input([2], name="left"), api.keras.Input([1], name="right")
    both = layers.Concatenate()([left, right])
    out = layers.Dense(1, kernel_initializer="ones", name="out")(both)
    model = api.keras.Model([left, right], out)
    model.compile(_sgd(api), "mse")
    return model


@case
def keras_input_fn_of_arrays_for_two_inputs(api: Api, model_dir: str) -> Any:
    x, y = tiny_data()
    found = []
    for form in ([x, y[:, None]], (x, y[:, None]), {"right": y[:, None], "left": x}):
        estimator = api.model_to_estimator(_two_inputs(api), model_dir=f"{model_dir}{len(found)}")
        found.append(_verbs(estimator, lambda form=form: (form, y[:, None])))
    return found


@case
def keras_input_fn_of_arrays_of_str(api: Api, model_dir: str) -> Any:
    layers = api.keras.layers
    words = api.keras.Input([1], dtype=tf.string, name="words")
    length = layers.Lambda(lambda text: tf.cast(tf.strings.length(text), tf.float32))(words)
    out = layers.Dense(1, kernel_initializer="ones", name="out")(length)
    model = api.keras.Model(words, out)
    model.compile(_sgd(api), "mse")
    estimator = api.model_to_estimator(model, model_dir=model_dir)
    return _verbs(estimator, lambda: (WORDS[:, None], np.ones([4, 1], np.float32)))


def _squares_of_sums(x: tf.Tensor) -> tf.Tensor:
    """Returns one number for each example, which depends on the number of rows of its features."""
    sums = tf.reduce_sum(x, -1, keepdims=True)
    return tf.reduce_sum(tf.reshape(tf.square(sums), [4, -1]), -1, keepdims=True)


def _of_shape(
    name: str, given: Any, declared: tuple[int | None, ...], *kinds: str, dtype: str = "float32"
) -> None:
    """Returns a question: a model of these layers for `declared` rows, given `given` features."""

    def run(api: Api, model_dir: str) -> Any:
        layers = api.keras.layers
        made = {
            "flatten": lambda name: layers.Flatten(name=name),
            "dense": lambda name: layers.Dense(1, kernel_initializer="ones", name=name),
            "cast": lambda name: layers.Lambda(lambda x: tf.cast(x, tf.float32), name=name),
            "square": lambda name: layers.Lambda(_squares_of_sums, name=name),
            "pool": lambda name: layers.GlobalAveragePooling1D(name=name),
            "norm": lambda name: layers.BatchNormalization(name=name),
        }
        stacked = [
            layers.Input(declared, name="x", dtype=dtype),
            *(made[kind](kind) for kind in kinds),
        ]
        model = api.keras.Sequential(stacked)
        model.compile(_sgd(api), "mse")
        estimator = api.model_to_estimator(model, model_dir=model_dir)
        return _verbs(estimator, lambda: (given, np.ones([4, 1], np.float32)))

    run.__name__ = f"keras_features_{name}"
    case(run)


_of_shape("flat_into_flatten", values(4, 6, seed=1), (2, 3), "flatten", "dense")
_of_shape("of_pictures_into_dense", values(4, 2, 3, seed=1), (6,), "dense")
_of_shape("of_pictures_into_flatten", values(4, 2, 3, seed=1), (6,), "flatten", "dense")
_of_shape("of_pictures_with_channel", values(4, 2, 3, 1, seed=1), (6,), "dense")
_of_shape("with_more_columns", values(4, 7, seed=1), (6,), "dense")
_of_shape("of_rank_1_into_dense", values(4, seed=1), (1,), "dense")
_of_shape("of_another_length", values(4, 5, 3, seed=1), (2, 3), "pool", "dense")
_of_shape("of_rank_1_into_norm", values(4, seed=1), (1,), "norm", "dense")
_of_shape("of_pictures_squared", values(4, 2, 3, seed=1), (6,), "square", "dense")
_of_shape("of_floats_for_integers", values(4, 6, seed=1), (6,), "cast", "dense", dtype="int32")
_of_shape("of_integers", np.arange(24, dtype=np.int64).reshape(4, 6), (6,), "dense")
_of_shape("of_integers_into_a_layer_that_casts", np.arange(4), (1,), "cast", "flatten", "dense")


@case
def keras_pictures_into_dense_with_an_input_shape(api: Api, model_dir: str) -> Any:
    first = api.keras.layers.Dense(1, input_shape=(6,), kernel_initializer="ones", name="rows")
    model = api.keras.Sequential([first])
    model.compile(_sgd(api), "mse")
    estimator = api.model_to_estimator(model, model_dir=model_dir)
    data = tf.data.Dataset.from_tensor_slices

    def pictures() -> tf.data.Dataset:
        return data(({"rows_input": values(4, 2, 3, seed=1)}, np.ones([4, 1], np.float32))).batch(4)

    estimator.train(pictures)
    return [row["rows"].tolist() for row in estimator.predict(pictures)]


def _on_columns(name: str, column: Callable[[], Any], given: np.ndarray, dtype: str) -> None:
    def run(api: Api, model_dir: str) -> Any:
        inputs = {"f": api.keras.Input([1], name="f", dtype=dtype)}
        values = api.keras.layers.DenseFeatures([column()])(inputs)
        out = api.keras.layers.Dense(1, kernel_initializer="ones", name="out")(values)
        model = api.keras.Model(inputs, out)
        model.compile(_sgd(api), "mse")
        estimator = api.model_to_estimator(model, model_dir=model_dir)
        return _verbs(estimator, lambda: ({"f": tf.constant(given)}, np.ones([4, 1], np.float32)))

    run.__name__ = f"keras_dense_features_on_{name}"
    case(run)


def _numbers() -> Any:
    return tf.feature_column.numeric_column("f")


def _identities() -> Any:
    found = tf.feature_column.categorical_column_with_identity("f", 4)
    return tf.feature_column.indicator_column(found)


def _vocabulary() -> Any:
    found = tf.feature_column.categorical_column_with_vocabulary_list("f", ["a", "b", "c"])
    return tf.feature_column.indicator_column(found)


_on_columns("numbers_of_rank_1", _numbers, values(4, seed=1), "float32")
_on_columns("integers_of_rank_1", _identities, np.array([0, 1, 2, 3]), "int64")
_on_columns("integers_of_rank_2", _identities, np.array([[0], [1], [2], [3]]), "int64")
_on_columns("short_integers_of_rank_1", _identities, np.array([0, 1, 2, 3], np.int32), "int64")
_on_columns("words_of_rank_1", _vocabulary, WORDS, "string")
_on_columns("words_of_rank_2", _vocabulary, WORDS[:, None], "string")
