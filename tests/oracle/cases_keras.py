"""Behaviours of model_to_estimator: refusals and messages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from cases import case, logged_case
from jobs import Api, tiny_data


def dense(api: Api, compiled: bool = True, **compile_arguments: Any) -> Any:
    """Returns a named model of one Dense layer with set weights."""
    inputs = api.keras.Input([2], name="x")
    outputs = api.keras.layers.Dense(1, name="out")(inputs)
    model = api.keras.Model(inputs, outputs)
    model.set_weights([np.array([[0.5], [0.25]], np.float32), np.zeros([1], np.float32)])
    if compiled:
        arguments = {"optimizer": "sgd", "loss": "mse", **compile_arguments}
        model.compile(**arguments)
    return model


def keras_input(repeat: int | None = None) -> tf.data.Dataset:
    x, y = tiny_data()
    data = tf.data.Dataset.from_tensor_slices(({"x": x}, y[:, None]))
    return data.repeat(repeat).batch(4)


def _trains(api: Api, model_dir: str, model: Any, **arguments: Any) -> Any:
    estimator = api.model_to_estimator(model, model_dir=model_dir, **arguments)
    estimator.train(keras_input, steps=2)
    result = estimator.evaluate(lambda: keras_input(1))
    return {key: [type(value).__name__, float(value)] for key, value in result.items()}


@case
def keras_without_model(api: Api, model_dir: str) -> Any:
    api.model_to_estimator(model_dir=model_dir)


@case
def keras_with_model_and_path(api: Api, model_dir: str) -> Any:
    api.model_to_estimator(dense(api), keras_model_path="a.h5", model_dir=model_dir)


@case
def keras_with_missing_path(api: Api, model_dir: str) -> Any:
    api.model_to_estimator(keras_model_path=model_dir + "/absent.h5", model_dir=model_dir)


@case
def keras_with_remote_path(api: Api, model_dir: str) -> Any:
    api.model_to_estimator(keras_model_path="gs://bucket/a.h5", model_dir=model_dir)


@case
def keras_with_uncompiled_model(api: Api, model_dir: str) -> Any:
    api.model_to_estimator(dense(api, compiled=False), model_dir=model_dir)


@case
def keras_with_model_of_wrong_type(api: Api, model_dir: str) -> Any:
    api.model_to_estimator(3, model_dir=model_dir)


@case
def keras_with_unknown_checkpoint_format(api: Api, model_dir: str) -> Any:
    api.model_to_estimator(dense(api), model_dir=model_dir, checkpoint_format="other")


@case
def keras_with_config_of_wrong_type(api: Api, model_dir: str) -> Any:
    api.model_to_estimator(dense(api), model_dir=model_dir, config=3)


@case
def keras_with_config_as_dict(api: Api, model_dir: str) -> Any:
    estimator = api.model_to_estimator(
        dense(api), model_dir=model_dir, config={"tf_random_seed": 5}
    )
    return [estimator.config.tf_random_seed, estimator.model_dir]


@case
def keras_with_two_model_dirs(api: Api, model_dir: str) -> Any:
    config = api.estimator.RunConfig(model_dir=model_dir + "_other")
    api.model_to_estimator(dense(api), model_dir=model_dir, config=config)


@case
def keras_without_model_dir(api: Api, model_dir: str) -> Any:
    return Path(api.model_to_estimator(dense(api)).model_dir).is_dir()


@logged_case
def keras_writes_the_initial_weights(api: Api, model_dir: str) -> Any:
    api.model_to_estimator(dense(api), model_dir=model_dir)
    return sorted(str(p.relative_to(model_dir)) for p in Path(model_dir).rglob("*.*"))


@logged_case
def keras_trains_and_evaluates(api: Api, model_dir: str) -> Any:
    return _trains(api, model_dir, dense(api, metrics=["mae"]))


@logged_case
def keras_evaluates_before_training(api: Api, model_dir: str) -> Any:
    estimator = api.model_to_estimator(dense(api), model_dir=model_dir)
    result = estimator.evaluate(lambda: keras_input(1))
    return {key: float(value) for key, value in result.items()}


@logged_case
def keras_with_metric_names_map(api: Api, model_dir: str) -> Any:
    names = {"mae": "absolute", "mean_absolute_error": "absolute"}
    return _trains(api, model_dir, dense(api, metrics=["mae"]), metric_names_map=names)


@case
def keras_with_metric_names_map_of_unknown_metric(api: Api, model_dir: str) -> Any:
    names = {"unknown": "absolute"}
    return _trains(api, model_dir, dense(api, metrics=["mae"]), metric_names_map=names)


@case
def keras_with_input_of_wrong_feature_names(api: Api, model_dir: str) -> Any:
    estimator = api.model_to_estimator(dense(api), model_dir=model_dir)
    estimator.train(lambda: keras_input().map(lambda x, y: ({"wrong": x["x"]}, y)), steps=1)


@case
def keras_with_plain_tensor_features(api: Api, model_dir: str) -> Any:
    estimator = api.model_to_estimator(dense(api), model_dir=model_dir)
    estimator.train(lambda: keras_input().map(lambda x, y: (x["x"], y)), steps=1)
    return int(estimator.get_variable_value("global_step")) if api.name == "v1" else None


@case
def keras_with_more_features_than_inputs(api: Api, model_dir: str) -> Any:
    estimator = api.model_to_estimator(dense(api), model_dir=model_dir)
    estimator.train(lambda: keras_input().map(lambda x, y: ({**x, "z": y}, y)), steps=1)


@case
def keras_train_without_labels(api: Api, model_dir: str) -> Any:
    estimator = api.model_to_estimator(dense(api), model_dir=model_dir)
    estimator.train(lambda: keras_input().map(lambda x, y: x), steps=1)


@case
def keras_predicts(api: Api, model_dir: str) -> Any:
    estimator = api.model_to_estimator(dense(api), model_dir=model_dir)
    found = list(estimator.predict(lambda: keras_input(1)))
    return [{key: value.tolist() for key, value in row.items()} for row in found]


@case
def keras_with_new_optimizer(api: Api, model_dir: str) -> Any:
    return _trains(api, model_dir, dense(api, optimizer=api.keras.optimizers.Adam(0.1)))


@case
def keras_with_legacy_optimizer(api: Api, model_dir: str) -> Any:
    adam = api.keras.optimizers.legacy.Adam(0.1)
    return _trains(api, model_dir, dense(api, optimizer=adam))


@case
def keras_with_v1_optimizer(api: Api, model_dir: str) -> Any:
    adam = tf.compat.v1.train.AdamOptimizer(0.1)
    return _trains(api, model_dir, dense(api, optimizer=adam))


@case
def keras_with_optimizer_of_a_new_kind(api: Api, model_dir: str) -> Any:
    return _trains(api, model_dir, dense(api, optimizer=api.keras.optimizers.AdamW(0.1)))


@logged_case
def keras_from_a_file(api: Api, model_dir: str) -> Any:
    os.makedirs(model_dir)
    path = os.path.join(os.path.dirname(model_dir), "model.h5")
    dense(api).save(path)
    estimator = api.model_to_estimator(keras_model_path=path, model_dir=model_dir)
    result = estimator.evaluate(lambda: keras_input(1))
    return {key: float(value) for key, value in result.items()}


@case
def keras_with_sample_weights(api: Api, model_dir: str) -> Any:
    def weighted(x, y):
        return {"features": x["x"], "sample_weights": tf.range(1.0, 5.0)}, y

    estimator = api.model_to_estimator(dense(api), model_dir=model_dir)
    result = estimator.evaluate(lambda: keras_input(1).map(weighted))
    return {key: float(value) for key, value in result.items()}


@case
def keras_with_sequential_model(api: Api, model_dir: str) -> Any:
    layers = api.keras.layers
    model = api.keras.Sequential([layers.Input([2], name="x"), layers.Dense(1)])
    model.compile("sgd", "mse")
    model.set_weights([np.ones([2, 1], np.float32), np.zeros([1], np.float32)])
    return _trains(api, model_dir, model)


@case
def keras_numbers_names_after_subclassed_model(api: Api, model_dir: str) -> Any:
    class Mine(api.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = api.keras.layers.Dense(1)

        def call(self, inputs):
            return self.dense(inputs)

    model = Mine()
    model.compile("sgd", "mse")
    first = model.dense.name
    api.model_to_estimator(model, model_dir=model_dir, checkpoint_format="saver")
    names = [first, api.keras.layers.Dense(1).name]
    numbers = [int((name.split("_") + ["0"])[1]) for name in names]
    return numbers[1] - numbers[0]


@logged_case
def keras_with_subclassed_model(api: Api, model_dir: str) -> Any:
    class Mine(api.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = api.keras.layers.Dense(1, kernel_initializer="ones")

        def call(self, inputs):
            return self.dense(inputs["x"] if isinstance(inputs, dict) else inputs)

    model = Mine()
    model.compile(api.keras.optimizers.legacy.SGD(0.01), "mse")
    return _trains(api, model_dir, model)
