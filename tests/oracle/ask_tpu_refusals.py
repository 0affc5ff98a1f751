"""What a TPUEstimator refuses, and with which error, on a machine without a TPU.

With `num_shards=1` the original builds the model before it looks for the TPU.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import tensorflow as tf

tf1 = tf.compat.v1
BATCH = 8
VECTOR = ([1.0], [1])
UNKNOWN = ([1.0], [None])


def questions(tpu: Any, spec: Any) -> dict[str, Callable[[], Any]]:
    """Calls by name; `spec` is EstimatorSpec."""
    model_fn = _model_fn(tpu)
    calls: dict[str, Callable[[], Any]] = {}

    def ask(name: str, verb: str, input_fn: Any, fn: Any = model_fn, **settings: Any) -> None:
        calls[f"{verb} {name}"] = lambda: _call(tpu, verb, input_fn, fn, settings)

    for verb in ("train", "evaluate", "predict"):
        for per_host in (2, 3):
            settings = {"num_shards": 1, "per_host_input_for_training": per_host}
            for name, parts in STRUCTURES.items():
                where = f"{name}, pipeline {per_host}"
                ask(f"unknown size: {where}", verb, _generated(*parts), **settings)
        for name, result in TENSORS.items():
            ask(f"bare tensors: {name}", verb, _bare(result), num_shards=1)
            ask(f"bare tensors of no batch size: {name}", verb, _bare(result, False), num_shards=1)
        ask("no labels argument", verb, _fixed, _without_labels(model_fn), num_shards=1)
        ask("a TPU that is looked for first", verb, _generated(UNKNOWN, VECTOR))
    per_host_v2 = {"num_shards": 1, "per_host_input_for_training": 3}
    ask("bare tensors, pipeline 3", "train", _bare(TENSORS["pair"]), **per_host_v2)
    for name, hooks in {"a number": [3], "a hook": [tf1.train.SessionRunHook()]}.items():
        ask(
            f"chief hooks: {name}",
            "train",
            _fixed,
            _with_chief_hooks(model_fn, spec, hooks),
            num_shards=1,
        )
    return calls


STRUCTURES = {
    "features": (UNKNOWN, VECTOR),
    "labels": (VECTOR, UNKNOWN),
    "dict of features": ({"x": UNKNOWN}, VECTOR),
    "dict of labels": ({"x": VECTOR}, {"y": UNKNOWN}),
    "both": (UNKNOWN, UNKNOWN),
    "features alone": ({"x": UNKNOWN}, None),
}
TENSORS = {
    "pair": lambda: (tf.ones([BATCH, 1]), tf.ones([BATCH, 1])),
    "dicts": lambda: ({"x": tf.ones([BATCH, 1])}, {"y": tf.ones([BATCH, 1])}),
}


def _generated(features: Any, labels: Any) -> Callable[[Any], tf.data.Dataset]:
    """Returns an input_fn of a dataset whose parts have the given values and static shapes."""
    parts = features if labels is None else (features, labels)

    def pick(index: int, structure: Any) -> Any:
        if isinstance(structure, dict):
            return {name: part[index] for name, part in structure.items()}
        return structure[index]

    def of_each(index: int) -> Any:
        return pick(index, parts) if labels is None else tuple(pick(index, p) for p in parts)

    def input_fn(params: Any) -> tf.data.Dataset:
        del params
        types = _types(parts, labels)
        data = tf.data.Dataset.from_generator(lambda: iter([of_each(0)] * BATCH), types, of_each(1))
        return data.batch(BATCH, drop_remainder=True)

    return input_fn


def _types(parts: Any, labels: Any) -> Any:
    def of(structure: Any) -> Any:
        if isinstance(structure, dict):
            return dict.fromkeys(structure, tf.float32)
        return tf.float32

    return of(parts) if labels is None else tuple(of(part) for part in parts)


def _bare(result: Callable[[], Any], is_static: bool = True) -> Callable[[Any], Any]:
    def input_fn(params: Any) -> Any:
        del params
        if is_static:
            return result()
        return tf.nest.map_structure(lambda t: tf1.placeholder_with_default(t, [None, 1]), result())

    return input_fn


def _fixed(params: Any) -> tf.data.Dataset:
    del params
    ones = tf.ones([BATCH, 1])
    return tf.data.Dataset.from_tensors(({"x": ones}, ones)).repeat(2)


def _model_fn(tpu: Any) -> Callable[..., Any]:
    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
        del labels, params
        x = features["x"] if isinstance(features, dict) else features
        product = x * tf1.get_variable("w", [1])
        loss = tf.reduce_mean(product**2)
        step = tf1.train.get_global_step()
        train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return tpu.TPUEstimatorSpec(mode, {"p": product}, loss, train_op)

    return model_fn


def _without_labels(model_fn: Callable[..., Any]) -> Callable[..., Any]:
    return lambda features, mode, params: model_fn(features, None, mode, params)


def _with_chief_hooks(model_fn: Callable[..., Any], spec: Any, hooks: Any) -> Callable[..., Any]:
    def with_chief_hooks(features: Any, labels: Any, mode: str, params: Any) -> Any:
        made = model_fn(features, labels, mode, params)
        return spec(mode, made.predictions, made.loss, made.train_op, training_chief_hooks=hooks)

    return with_chief_hooks


def _call(tpu: Any, verb: str, input_fn: Any, model_fn: Any, settings: dict[str, Any]) -> Any:
    config = tpu.RunConfig(tpu_config=tpu.TPUConfig(**settings))
    with tempfile.TemporaryDirectory() as directory:
        estimator = tpu.TPUEstimator(
            model_fn,
            directory,
            config,
            train_batch_size=BATCH,
            eval_batch_size=BATCH,
            predict_batch_size=BATCH,
        )
        try:
            if verb == "predict":
                return len(list(estimator.predict(input_fn)))
            return type(getattr(estimator, verb)(input_fn, steps=1)).__name__
        except (tf.errors.InvalidArgumentError, RuntimeError) as error:
            # The original ends in an operation without a kernel where it did not look for the TPU.
            raise RuntimeError("no TPU") from error
        except Exception as error:
            raise type(error)(str(error).partition(" Tensor:")[0]) from error
