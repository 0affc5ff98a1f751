"""Behaviours of what an input_fn may be and return."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import tensorflow as tf
from cases import case
from jobs import Api, tiny_data, tiny_estimator, tiny_input, tiny_parts

tf1 = tf.compat.v1


def _step(estimator: Any) -> int:
    return int(estimator.get_variable_value("global_step"))


def _input_case(name: str, /, input_fn: Any) -> None:
    def run(api: Api, model_dir: str) -> Any:
        return _step(tiny_estimator(api, model_dir).train(input_fn, steps=1))

    run.__name__ = f"input_fn_{name}"
    case(run)


class _Callable:
    def __call__(self, mode):
        return tiny_input()

    def method(self, params, config):
        return tiny_input()


def _of_unknown_argument(unknown):
    return tiny_input()


def _of_tensors():
    x, y = tiny_data()
    return {"x": tf.constant(x)}, tf.constant(y)


def _of_arrays():
    x, y = tiny_data()
    return {"x": x}, y


def _three(x, y):
    return x, y, y


for _name, _input_fn in {
    "is_none": None,
    "is_not_callable": 3,
    "is_a_dataset": "dataset",
    "returns_none": lambda: None,
    "returns_a_number": lambda: 3,
    "returns_a_triple_of_tensors": lambda: (*_of_tensors(), tf.constant(1)),
    "returns_a_dataset_of_triples": lambda: tiny_input().map(_three),
    "returns_a_list_of_tensors": lambda: list(_of_tensors()),
    "returns_an_empty_dataset": lambda: tiny_input().take(0),
    "returns_tensors": _of_tensors,
    "returns_arrays": _of_arrays,
    "returns_an_iterator": lambda: tf1.data.make_one_shot_iterator(tiny_input()),
    "returns_what_an_iterator_gives": lambda: tf1.data.make_one_shot_iterator(
        tiny_input()
    ).get_next(),
    "returns_a_v1_dataset": lambda: tf1.data.Dataset.from_tensor_slices(_of_arrays()).batch(4),
    "is_a_partial": functools.partial(tiny_input, batch_size=2),
    "is_a_callable_object": _Callable(),
    "is_a_method": _Callable().method,
    "takes_an_unknown_argument": _of_unknown_argument,
    "takes_an_unknown_argument_bound_by_partial": functools.partial(
        _of_unknown_argument, unknown=1
    ),
    "takes_star_arguments": lambda **others: tiny_input(),
    "raises": lambda: {}["absent"],
}.items():
    if _name != "is_a_dataset":
        _input_case(_name, _input_fn)


@case
def input_fn_is_a_dataset(api: Api, model_dir: str) -> Any:
    tiny_estimator(api, model_dir).train(tiny_input(), steps=1)


@case
def input_fn_gets_mode_params_and_config(api: Api, model_dir: str) -> Any:
    seen: list[Any] = []

    def input_fn(mode, params, config):
        seen.append([mode, dict(params), type(config).__name__])
        return tiny_input(repeat=1)

    def model_fn(features, labels, mode, params):
        return api.estimator.EstimatorSpec(mode, **tiny_parts(features, labels))

    estimator = tiny_estimator(api, model_dir, model_fn=model_fn, params={"a": 1})
    estimator.train(input_fn, steps=1)
    estimator.evaluate(input_fn)
    list(estimator.predict(input_fn))
    return seen


@case
def input_fn_gets_an_input_context_or_not(api: Api, model_dir: str) -> Any:
    seen = []

    def input_fn(input_context=None):
        seen.append(type(input_context).__name__)
        return tiny_input(repeat=1)

    estimator = tiny_estimator(api, model_dir)
    estimator.train(input_fn, steps=1)
    estimator.evaluate(input_fn)
    return seen


@case
def input_fn_runs_on_which_device(api: Api, model_dir: str) -> Any:
    seen = []

    def input_fn():
        seen.append([tf.constant(1).device, tf.executing_eagerly()])
        return tiny_input(repeat=1)

    tiny_estimator(api, model_dir).train(input_fn, steps=1)
    return seen


@case
def input_fn_sees_which_seeds(api: Api, model_dir: str) -> Any:
    seen = []

    def input_fn():
        seen.append(tf1.get_default_graph().seed)
        return tiny_input(repeat=1)

    estimator = tiny_estimator(api, model_dir)
    estimator.train(input_fn, steps=1)
    estimator.evaluate(input_fn)
    list(estimator.predict(input_fn))
    return seen


@case
def features_may_be_a_plain_tensor(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode):
        return api.estimator.EstimatorSpec(mode, **tiny_parts({"x": features}, labels))

    def input_fn():
        return tf.data.Dataset.from_tensor_slices(tiny_data()).batch(4)

    return _step(tiny_estimator(api, model_dir, model_fn=model_fn).train(input_fn))


@case
def labels_may_be_a_dict(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode):
        return api.estimator.EstimatorSpec(mode, **tiny_parts(features, labels["y"]))

    def input_fn():
        return tiny_input().map(lambda x, y: (x, {"y": y}))

    return _step(tiny_estimator(api, model_dir, model_fn=model_fn).train(input_fn, steps=1))


@case
def table_of_the_input_is_initialised(api: Api, model_dir: str) -> Any:
    def input_fn():
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(["a"], np.array([1.0], np.float32)), 0.0
        )
        return tiny_input().map(lambda x, y: (x, y + table.lookup(tf.constant("a"))))

    return _step(tiny_estimator(api, model_dir).train(input_fn, steps=1))
