"""Preprocessing layers with state outside of variables: vocabularies, boundaries, statistics."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras
import tiers

import estimator_train as est

WORDS = np.array([["red"], ["blue"], ["pink"], ["red"]])
NUMBERS = np.array([[1], [2], [7], [2]])
MODES = ["int", "one_hot", "multi_hot", "count", "tf_idf"]


Case = tuple[Callable[[], Any], np.ndarray]


def make_adapted(make: Callable[..., Any], values: np.ndarray, **settings: Any) -> Any:
    layer = make(**settings)
    layer.adapt(values)
    return layer


def list_layers(package: Any) -> dict[str, Case]:
    """Returns functions that make layers, by name, with values that the layers take."""
    make = package.layers
    cases: dict[str, Case] = {}
    for mode in MODES:
        settings = {"idf_weights": [0.5, 0.25]} if mode == "tf_idf" else {}
        vocabulary = ["red", "blue"]
        given = partial(make.StringLookup, vocabulary=vocabulary, output_mode=mode, **settings)
        cases[f"given {mode}"] = given, WORDS
        learned = partial(make_adapted, make.StringLookup, WORDS, output_mode=mode)
        cases[f"learned {mode}"] = learned, WORDS
        integers = partial(
            make_adapted, make.IntegerLookup, NUMBERS, output_mode=mode, num_oov_indices=2
        )
        cases[f"integers {mode}"] = integers, NUMBERS
        if mode != "one_hot":
            settings = {"output_sequence_length": 2} if mode == "int" else {}
            text = partial(
                make_adapted, make.TextVectorization, WORDS[:, 0], output_mode=mode, **settings
            )
            cases[f"text {mode}"] = text, WORDS
    floats = NUMBERS.astype("float32")
    padded = {"max_tokens": 9, "output_mode": "multi_hot", "pad_to_max_tokens": True}
    cases["padded"] = partial(make_adapted, make.StringLookup, WORDS, **padded), WORDS
    cases["mean"] = partial(make_adapted, make.Normalization, floats), floats
    cases["boundaries"] = partial(make_adapted, make.Discretization, floats, num_bins=3), floats
    given = partial(make.Discretization, bin_boundaries=[1.5, 3.0], output_mode="one_hot")
    cases["given boundaries"] = given, floats
    cases["hashes"] = partial(make.Hashing, num_bins=4), WORDS
    cases["categories"] = (
        partial(make.CategoryEncoding, num_tokens=8, output_mode="one_hot"),
        NUMBERS,
    )
    return cases


def make_model(package: Any, layer: Any, values: np.ndarray, is_nested: bool) -> Any:
    dtype = "string" if values.dtype.kind == "U" else values.dtype.name
    value = package.Input((1,), dtype=dtype, name="value")
    encoded = layer(value)
    if is_nested:
        encoded = package.Model(value, encoded, name="encoder")(value)
    numbers = package.layers.Rescaling(1.0)(encoded)
    flat = package.layers.Flatten()(numbers)
    model = package.Model(value, package.layers.Dense(1)(flat))
    model.compile("sgd", "mse")
    return model


def rows(values: np.ndarray) -> Any:
    targets = np.ones([len(values), 1], "float32")
    return lambda: tf.data.Dataset.from_tensors(({"value": values}, targets))


def predict(estimator: est.Estimator, values: np.ndarray) -> np.ndarray:
    found = estimator.predict(rows(values))
    return np.array([next(iter(row.values())) for row in found]).ravel()


CASES = [(package, name) for package in (tf_keras, keras) for name in list_layers(package)]


@pytest.mark.long
@pytest.mark.parametrize("is_nested", [False, True], ids=["", "nested"])
@pytest.mark.parametrize(
    ("package", "name"), CASES, ids=[f"{package.__name__} {name}" for package, name in CASES]
)
def test_predictions_are_those_of_the_model(
    package: Any, name: str, is_nested: bool, tmp_path: Path
) -> None:
    make, values = list_layers(package)[name]
    model = make_model(package, make(), values, is_nested)
    expected = np.ravel(model(tf.constant(values)))
    estimator = est.keras.model_to_estimator(model, model_dir=str(tmp_path))
    assert predict(estimator, values) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    "package", tiers.first([keras], [tf_keras, keras]), ids=["tf_keras", "keras"]
)
@pytest.mark.parametrize(
    "name",
    tiers.first({"boundaries"}, ["text multi_hot", "integers int", "text tf_idf", "boundaries"]),
)
def test_a_model_that_counts_words_trains_and_is_exported(
    package: Any, name: str, tmp_path: Path
) -> None:
    make, values = list_layers(package)[name]
    model = make_model(package, make(), values, is_nested=False)
    estimator = est.keras.model_to_estimator(model, model_dir=str(tmp_path / "job"))
    before = estimator.evaluate(rows(values))["loss"]
    estimator.train(lambda: rows(values)().repeat(), steps=5)
    assert estimator.evaluate(rows(values))["loss"] < before

    def receive() -> Any:
        features = {"value": tf.compat.v1.placeholder(values.dtype.name[:5], [None, 1])}
        return est.export.ServingInputReceiver(features, features)

    if values.dtype.kind == "U":
        receive = est.export.build_raw_serving_input_receiver_fn(
            {"value": tf.TensorSpec([None, 1], tf.string)}
        )
    path = os.fsdecode(estimator.export_saved_model(tmp_path / "export", receive))
    served = tf.saved_model.load(path).signatures["serving_default"]
    found = np.ravel(list(served(value=tf.constant(values)).values())[0])
    assert found == pytest.approx(predict(estimator, values), abs=1e-5)


@pytest.mark.parametrize("package", [tf_keras, keras], ids=["tf_keras", "keras"])
def test_a_lookup_layer_reads_its_size_from_its_table_elsewhere(package: Any) -> None:
    layer = package.layers.StringLookup(vocabulary=["red", "blue"])
    assert layer.vocabulary_size() == 3
    assert "vocabulary_size" not in vars(package.layers.StringLookup)
