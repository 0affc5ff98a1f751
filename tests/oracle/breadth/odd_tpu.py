"""Odd values for TPUEstimator and its specs, asked without a TPU."""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from breadth.forms import Delegate, _subclass_of
from breadth.odd import Names, odd
from jobs import Api, tiny_input, tiny_parts, tiny_receiver

tf1 = tf.compat.v1


def _model_fn(api: Api, spec: Any = None, **fields: Any) -> Any:
    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
        del params
        kind = spec or api.estimator.tpu.TPUEstimatorSpec
        parts = tiny_parts(features, labels)
        parts.pop("eval_metric_ops", None)
        return kind(mode, **{**parts, **{name: make(parts) for name, make in fields.items()}})

    return model_fn


def _input(params: Any) -> Any:
    return tiny_input(params.get("batch_size", 4), repeat=1)


def _tpu(
    model_fn: Callable[[Api], Any] = _model_fn,
    input_fn: Any = _input,
    config: Callable[[Any], Any] | None = None,
    **arguments: Any,
) -> Any:
    def ask(api: Api, directory: str) -> Any:
        tpu = api.estimator.tpu
        run_config = tpu.RunConfig(tf_random_seed=1) if config is None else config(api.estimator)
        given = {"use_tpu": False, "train_batch_size": 4, "eval_batch_size": 4}
        given |= {"predict_batch_size": 4, **arguments}
        given = {k: v() if isinstance(v, types.FunctionType) else v for k, v in given.items()}
        estimator = tpu.TPUEstimator(model_fn(api), f"{directory}/model", run_config, **given)
        estimator.train(input_fn, steps=2)
        found = estimator.evaluate(input_fn, steps=1)
        rows = list(estimator.predict(input_fn))
        path = estimator.export_saved_model(f"{directory}/export", tiny_receiver(api))
        return [
            {key: float(value) for key, value in sorted(found.items())},
            len(rows),
            sorted(rows[0]),
            estimator.get_variable_value("weight"),
            type(path).__name__,
        ]

    return ask


ESTIMATORS: dict[str, Any] = {
    "as usual": _tpu(),
    "size of NumPy": _tpu(train_batch_size=np.int64(4)),
    "size that is a float": _tpu(eval_batch_size=4.0),
    "size that is a string": _tpu(eval_batch_size="4"),
    "no sizes": _tpu(train_batch_size=None, eval_batch_size=None, predict_batch_size=None),
    "size zero": _tpu(train_batch_size=0, eval_batch_size=0, predict_batch_size=0),
    "negative size": _tpu(train_batch_size=-4),
    "size zero that nobody reads": _tpu(
        train_batch_size=0, input_fn=lambda params: tiny_input(4, 1)
    ),
    "params": _tpu(params={"a": 1}),
    "params: UserDict": _tpu(params=lambda: collections.UserDict(a=1)),
    "params: OrderedDict": _tpu(params=lambda: collections.OrderedDict(a=1)),
    "params: subclass": _tpu(params=lambda: type("Mine", (dict,), {})(a=1)),
    "params: MappingProxyType": _tpu(params=lambda: types.MappingProxyType({"a": 1})),
    "params: own mapping": _tpu(params=lambda: Names({"a": 1})),
    "params: none of them": _tpu(params=dict),
    "params: batch_size": _tpu(params={"batch_size": 3}),
    "params: context": _tpu(params={"context": 3}),
    "params: use_tpu": _tpu(params={"use_tpu": 3}),
    "params: a list": _tpu(params=[1, 2]),
    "params: a namespace": _tpu(params=lambda: types.SimpleNamespace(a=1)),
    "use_tpu: None": _tpu(use_tpu=None),
    "use_tpu: zero": _tpu(use_tpu=0),
    "use_tpu: of NumPy": _tpu(use_tpu=np.bool_(False)),
    "use_tpu: an empty string": _tpu(use_tpu=""),
    "config: None": _tpu(config=lambda e: None),
    "config: of estimators": _tpu(config=lambda e: e.RunConfig()),
    "config: subclass": _tpu(config=lambda e: _subclass_of(e.tpu.RunConfig())),
    "config: delegates": _tpu(config=lambda e: Delegate(e.tpu.RunConfig())),
    "config: loop": _tpu(config=lambda e: e.tpu.RunConfig(e.tpu.TPUConfig(1))),
    "config: loop in time": _tpu(config=lambda e: e.tpu.RunConfig(e.tpu.TPUConfig("60s"))),
    "config: TPUConfig that delegates": _tpu(
        config=lambda e: e.tpu.RunConfig(Delegate(e.tpu.TPUConfig(2)))
    ),
    "input: without params": _tpu(input_fn=lambda: tiny_input(4, repeat=1)),
    "input: partial": _tpu(input_fn=functools.partial(lambda a, params: tiny_input(4, 1), 1)),
    "input: object": _tpu(
        input_fn=type("In", (), {"__call__": lambda self, params: tiny_input(4, 1)})()
    ),
    "input: any arguments": _tpu(input_fn=lambda **kwargs: tiny_input(4, 1)),
    "input: tensors": _tpu(
        input_fn=lambda params: (
            tiny_input(4, 1).make_one_shot_iterator().get_next()
            if hasattr(tiny_input(4, 1), "make_one_shot_iterator")
            else tf1.data.make_one_shot_iterator(tiny_input(4, 1)).get_next()
        )
    ),
    "eval_on_tpu": _tpu(eval_on_tpu=False),
    "export_to_tpu": _tpu(export_to_tpu=False),
    "export_to_cpu": _tpu(export_to_cpu=False),
    "batch_axis": _tpu(batch_axis=[0, 0]),
    "EstimatorSpec": _tpu(lambda api: _model_fn(api, api.estimator.EstimatorSpec)),
    "spec: subclass": _tpu(
        lambda api: _model_fn(api, type("Mine", (api.estimator.tpu.TPUEstimatorSpec,), {}))
    ),
    "spec: replaced": _tpu(
        lambda api: _model_fn(
            api,
            lambda *a, **k: api.estimator.tpu.TPUEstimatorSpec(*a, **k)._replace(host_call=None),
        )
    ),
    "spec: delegates": _tpu(
        lambda api: _model_fn(
            api, lambda *a, **k: Delegate(api.estimator.tpu.TPUEstimatorSpec(*a, **k))
        )
    ),
    "spec: None": _tpu(lambda api: _model_fn(api, lambda *a, **k: None)),
    "spec: converted": _tpu(
        lambda api: _model_fn(
            api,
            lambda *a, **k: api.estimator.tpu.TPUEstimatorSpec(*a, **k).as_estimator_spec(),
        )
    ),
    "model_fn: without params": _tpu(
        lambda api: lambda features, labels, mode: _model_fn(api)(features, labels, mode, {})
    ),
    "model_fn: any arguments": _tpu(
        lambda api: lambda features, labels, mode, **k: _model_fn(api)(features, labels, mode, {})
    ),
    "model_fn: partial": _tpu(
        lambda api: functools.partial(
            lambda a, features, labels, mode, params: _model_fn(api)(features, labels, mode, {}), 1
        )
    ),
    "model_fn: object": _tpu(
        lambda api: type(
            "Model",
            (),
            {
                "__call__": lambda s, features, labels, mode, params: _model_fn(api)(
                    features, labels, mode, {}
                )
            },
        )()
    ),
    "model_fn: says use_tpu": _tpu(
        lambda api: (
            lambda features, labels, mode, params: _model_fn(api)(
                {"x": features["x"] + float(params["use_tpu"])}, labels, mode, {}
            )
        )
    ),
    "model_fn: changes params": _tpu(
        lambda api: (
            lambda features, labels, mode, params: (
                params.update(new=1),
                _model_fn(api)(features, labels, mode, {}),
            )[1]
        ),
        params=lambda: {"a": 1},
    ),
}
odd("TPUEstimator", ESTIMATORS, ("v1",))


def _mean(value: Any) -> Any:
    return {"mean": tf1.metrics.mean(value)}


METRICS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "tuple": lambda parts: (_mean, [parts["loss"]]),
    "list": lambda parts: [_mean, [parts["loss"]]],
    "tuple of tensors": lambda parts: (_mean, (parts["loss"],)),
    "dict of tensors": lambda parts: (_mean, {"value": parts["loss"]}),
    "OrderedDict of tensors": lambda parts: (_mean, collections.OrderedDict(value=parts["loss"])),
    "UserDict of tensors": lambda parts: (_mean, collections.UserDict(value=parts["loss"])),
    "tensor alone": lambda parts: (_mean, parts["loss"]),
    "generator of tensors": lambda parts: (_mean, (tensor for tensor in [parts["loss"]])),
    "array of tensors": lambda parts: (_mean, np.array([1.0])),
    "three": lambda parts: (_mean, [parts["loss"]], 3),
    "one": lambda parts: (_mean,),
    "function alone": lambda parts: _mean,
    "no function": lambda parts: (3, [parts["loss"]]),
    "dict": lambda parts: {"mean": tf1.metrics.mean(parts["loss"])},
    "partial": lambda parts: (functools.partial(_mean), [parts["loss"]]),
    "partial by name": lambda parts: (functools.partial(_mean, value=parts["loss"]), []),
    "partial of two": lambda parts: (functools.partial(lambda a, b: _mean(b), 1), [parts["loss"]]),
    "lambda of any": lambda parts: (lambda *tensors: _mean(tensors[0]), [parts["loss"]]),
    "lambda of any by name": lambda parts: (lambda **t: _mean(t["v"]), {"v": parts["loss"]}),
    "object": lambda parts: (
        type("Fn", (), {"__call__": lambda self, v: _mean(v)})(),
        [parts["loss"]],
    ),
    "bound method": lambda parts: (
        types.MethodType(lambda self, v: _mean(v), object()),
        [parts["loss"]],
    ),
    "default": lambda parts: (lambda value, more=2: _mean(value), [parts["loss"]]),
    "default given": lambda parts: (
        lambda value, more=2: _mean(value * more),
        [parts["loss"], parts["loss"]],
    ),
    "one by name alone": lambda parts: (lambda value, *, more=2: _mean(value), [parts["loss"]]),
    "too many": lambda parts: (_mean, [parts["loss"], parts["loss"]]),
    "too few": lambda parts: (_mean, []),
    "another name": lambda parts: (_mean, {"other": parts["loss"]}),
    "function that returns None": lambda parts: (lambda value: None, [parts["loss"]]),
    "function that returns a list": lambda parts: (lambda value: [1], [parts["loss"]]),
    "named tuple": lambda parts: collections.namedtuple("P", "fn tensors")(_mean, [parts["loss"]]),
}


def _only_eval(make: Callable[[dict[str, Any]], Any]) -> Any:
    return lambda parts: make(parts) if "loss" in parts else None


odd(
    "TPUEstimatorSpec.eval_metrics",
    {
        text: _tpu(lambda api, m=make: _model_fn(api, eval_metrics=_only_eval(m)))
        for text, make in METRICS.items()
    },
    ("v1",),
)


def _host(value: Any) -> Any:
    return tf1.assign_add(tf1.get_variable("host", [], tf.float32, trainable=False), 1.0)


HOST: dict[str, Callable[[dict[str, Any]], Any]] = {
    "tuple": lambda parts: (lambda loss: tf.identity(loss), [parts["loss"]]),
    "dict": lambda parts: (lambda loss: tf.identity(loss), {"loss": parts["loss"]}),
    "that counts": lambda parts: (_host, [parts["loss"]]),
    "that returns None": lambda parts: (lambda loss: None, [parts["loss"]]),
    "that returns operations": lambda parts: (lambda loss: [tf.no_op()], [parts["loss"]]),
    "that returns a dict": lambda parts: (lambda loss: {"a": loss}, [parts["loss"]]),
    "too many": lambda parts: (lambda loss: loss, [parts["loss"], parts["loss"]]),
    "partial": lambda parts: (functools.partial(lambda a, loss: loss, 1), [parts["loss"]]),
}
odd(
    "TPUEstimatorSpec.host_call",
    {
        text: _tpu(lambda api, m=make: _model_fn(api, host_call=_only_eval(m)))
        for text, make in HOST.items()
    },
    ("v1",),
)


class Hook(tf1.train.SessionRunHook):
    """Does nothing."""


def _field(**fields: Any) -> Any:
    return _tpu(lambda api: _model_fn(api, **fields))


odd(
    "TPUEstimatorSpec",
    {
        "hooks: tuple": _field(training_hooks=lambda p: (Hook(),)),
        "hooks: generator": _field(training_hooks=lambda p: (hook for hook in [Hook()])),
        "hooks: None": _field(training_hooks=lambda p: None, evaluation_hooks=lambda p: None),
        "hooks: one": _field(evaluation_hooks=lambda p: Hook()),
        "hooks: no hook": _field(prediction_hooks=lambda p: [3]),
        "scaffold: function": _field(scaffold_fn=lambda p: lambda: tf1.train.Scaffold()),
        "scaffold: partial": _field(scaffold_fn=lambda p: functools.partial(tf1.train.Scaffold)),
        "scaffold: class": _field(scaffold_fn=lambda p: tf1.train.Scaffold),
        "scaffold: None": _field(scaffold_fn=lambda p: lambda: None),
        "scaffold: itself": _field(scaffold_fn=lambda p: tf1.train.Scaffold()),
        "predictions: a tensor": _field(predictions=lambda p: p["predictions"]["score"]),
        "predictions: of scalars": _field(predictions=lambda p: {"a": tf.constant(1.0)}),
        "loss: of one": _field(loss=lambda p: p["loss"][None] if "loss" in p else None),
        "loss: of two": _field(loss=lambda p: tf.stack([p["loss"]] * 2) if "loss" in p else None),
        "train_op: a tensor": _field(
            train_op=lambda p: tf1.assign_add(tf1.train.get_global_step(), 1)
        ),
    },
    ("v1",),
)
