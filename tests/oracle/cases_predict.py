"""Behaviours of Estimator.predict."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from cases import case, logged_case
from jobs import Api, tiny_data, tiny_estimator, tiny_input, tiny_parts, trained

tf1 = tf.compat.v1


def features_only() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices({"x": tiny_data()[0]}).batch(4)


def described(value: Any) -> Any:
    """Kind, dtype, shape and values of what predict yields."""
    if isinstance(value, dict):
        return {key: described(item) for key, item in value.items()}
    array = np.asarray(value)
    if array.dtype == object:
        return [type(value).__name__, str(value)]
    kind = "scalar" if isinstance(value, np.generic) else type(value).__name__
    return [kind, str(array.dtype), list(array.shape), array.tolist()]


def _predict_case(name: str, /, input_fn: Any = features_only, **arguments: Any) -> None:
    def run(api: Api, model_dir: str) -> Any:
        found = trained(api, model_dir).predict(input_fn, **arguments)
        return [type(found).__name__, [described(item) for item in found]]

    run.__name__ = f"predict_with_{name}"
    case(run, "INFO" if name == "features_only" else "WARNING")


for _name, _arguments in {
    "features_only": {},
    "labels_that_are_dropped": {"input_fn": lambda: tiny_input(repeat=1)},
    "one_key": {"predict_keys": ["score"]},
    "one_key_as_string": {"predict_keys": "score"},
    "unknown_key": {"predict_keys": ["unknown"]},
    "known_and_unknown_key": {"predict_keys": ["unknown", "score"]},
    "whole_batches": {"yield_single_examples": False},
    "hook_of_wrong_type": {"hooks": [object()]},
    "unknown_checkpoint": {"checkpoint_path": "absent/model.ckpt-1"},
    "input_fn_that_returns_none": {"input_fn": lambda: None},
    "empty_input": {"input_fn": lambda: features_only().take(0)},
    "tensors_instead_of_a_dataset": {"input_fn": lambda: {"x": tf.constant(tiny_data()[0])}},
}.items():
    if _name != "tensors_instead_of_a_dataset":
        _predict_case(_name, **_arguments)


@case
def predict_with_tensors_instead_of_a_dataset(api: Api, model_dir: str) -> Any:
    found = trained(api, model_dir).predict(lambda: {"x": tf.constant(tiny_data()[0])})
    return [described(next(found)["score"]) for _ in range(9)]


@logged_case
def predict_before_training(api: Api, model_dir: str) -> Any:
    return [described(item) for item in tiny_estimator(api, model_dir).predict(features_only)]


@case
def predict_does_nothing_before_it_is_iterated(api: Api, model_dir: str) -> Any:
    return type(tiny_estimator(api, model_dir).predict(3)).__name__


def _predictions_case(name: str, /, make: Any, **arguments: Any) -> None:
    def run(api: Api, model_dir: str) -> Any:
        def model_fn(features, labels, mode):
            tiny_parts(features, None)
            return api.estimator.EstimatorSpec(mode, predictions=make(features["x"]))

        trained(api, model_dir)
        estimator = tiny_estimator(api, model_dir, model_fn=model_fn)
        return [described(item) for item in estimator.predict(features_only, **arguments)]

    run.__name__ = f"predict_{name}"
    case(run)


_predictions_case("a_plain_tensor", lambda x: x * 2.0)
_predictions_case("a_plain_tensor_in_batches", lambda x: x * 2.0, yield_single_examples=False)
_predictions_case("a_plain_tensor_with_keys", lambda x: x * 2.0, predict_keys=["score"])
_predictions_case("rows_of_different_length", lambda x: {"a": x, "b": x[:3]})
_predictions_case("a_scalar_beside_rows", lambda x: {"a": x, "b": tf.reduce_sum(x)})
_predictions_case("a_scalar", lambda x: tf.reduce_sum(x))
_predictions_case("strings", lambda x: {"text": tf.strings.as_string(x[:, 0], 2)})
_predictions_case("nested_dicts", lambda x: {"a": {"b": x}})
_predictions_case("a_list", lambda x: [x, x])
_predictions_case("nothing", lambda x: None)
_predictions_case(
    "rows_of_different_length_in_batches",
    lambda x: {"a": x, "b": x[:3]},
    yield_single_examples=False,
)


@case
def predict_keys_of_one_scalar_output(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode):
        tiny_parts(features, None)
        x = features["x"]
        return api.estimator.EstimatorSpec(mode, predictions={"rows": x, "total": tf.reduce_sum(x)})

    trained(api, model_dir)
    estimator = tiny_estimator(api, model_dir, model_fn=model_fn)
    found = estimator.predict(features_only, predict_keys=["rows"])
    return [described(item) for item in found]


@case
def predict_with_hooks_of_spec_and_user(api: Api, model_dir: str) -> Any:
    calls = []

    class Hook(tf1.train.SessionRunHook):
        def __init__(self, name):
            self.name = name

        def begin(self):
            calls.append(self.name + " begin")

        def after_run(self, run_context, run_values):
            calls.append(self.name + " run")

        def end(self, session):
            calls.append(self.name + " end")

    def model_fn(features, labels, mode):
        parts = tiny_parts(features, labels)
        return api.estimator.EstimatorSpec(mode, prediction_hooks=[Hook("spec")], **parts)

    estimator = trained(api, model_dir, model_fn=model_fn)
    list(estimator.predict(features_only, hooks=[Hook("user")]))
    return calls


@case
def predict_while_another_prediction_is_open(api: Api, model_dir: str) -> Any:
    estimator = trained(api, model_dir)
    one, two = estimator.predict(features_only), estimator.predict(features_only)
    return [float(a["score"]) == float(b["score"]) for a, b in zip(one, two, strict=True)]


@case
def predict_stopped_early_closes(api: Api, model_dir: str) -> Any:
    found = trained(api, model_dir).predict(lambda: tiny_input(repeat=None))
    first = next(found)
    found.close()
    return described(first["score"])
