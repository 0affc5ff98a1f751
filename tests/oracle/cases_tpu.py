"""Behaviours of `tf.compat.v1.estimator.tpu` on a machine without TPU, and of TF_CONFIG in it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any
from unittest import mock

import tensorflow as tf
from cases import case
from cases_events import events
from jobs import Api

tf1 = tf.compat.v1


def _tpu() -> Any:
    """Returns the module from the v1 API, or ours if the API lacks it."""
    if hasattr(tf1, "estimator"):
        return tf1.estimator.tpu
    import estimator_train.compat.v1

    return estimator_train.compat.v1.tpu


def _model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    weight = tf1.get_variable("w", [], initializer=tf1.zeros_initializer())
    loss = tf.reduce_mean((weight * features["x"] - 1.0) ** 2)
    train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(loss, tf1.train.get_global_step())
    return _tpu().TPUEstimatorSpec(
        mode, predictions={"p": weight * features["x"]}, loss=loss, train_op=train_op
    )


def _without_params(features: Any, labels: Any, mode: str) -> Any:
    return _model_fn(features, labels, mode, {})


def _of_unknown(features: Any, labels: Any, mode: str, params: Any, unknown: int) -> Any:
    return _model_fn(features, labels, mode, params)


def input_fn(params: Any) -> tf.data.Dataset:
    return tf.data.Dataset.from_tensors(({"x": tf.ones([8])}, tf.ones([8]))).repeat(4)


def make_estimator(model_dir: str, **arguments: Any) -> Any:
    arguments = {"model_fn": _model_fn, "train_batch_size": 8, "use_tpu": True, **arguments}
    made = _tpu().TPUConfig(**arguments.pop("tpu_config", {}))
    settings = arguments.pop("run_config", {})
    config = _tpu().RunConfig(model_dir=model_dir, tpu_config=made, **settings)
    return _tpu().TPUEstimator(config=config, **arguments)


def _constructed(name: str, **arguments: Any) -> None:
    def run(api: Api, model_dir: str) -> Any:
        return type(make_estimator(model_dir, **arguments)).__name__

    run.__name__ = f"tpu_made_with_{name}"
    case(run, "ERROR")


_constructed("train_batch_size")
_constructed("no_train_batch_size", train_batch_size=None)
_constructed("all_batch_sizes", eval_batch_size=8, predict_batch_size=8)
for _name in ("train_batch_size", "eval_batch_size", "predict_batch_size"):
    _constructed(f"{_name}_of_text", **{_name: "8"})
    _constructed(f"{_name}_of_float", **{_name: 8.0})
    _constructed(f"{_name}_of_0", **{_name: 0})
    _constructed(f"{_name}_of_text_without_tpu", use_tpu=False, **{_name: "8"})
_constructed(
    "model_parallelism_by_shards",
    tpu_config={"per_host_input_for_training": False, "num_cores_per_replica": 2},
)
_constructed("a_model_fn_of_unknown_arguments", model_fn=_of_unknown)
_constructed("a_model_fn_without_params", model_fn=_without_params)
_constructed("reserved_params", params={"batch_size": 3})
_constructed("reserved_context", params={"context": 3})


def _asked(name: str, call: Callable[[Any], Any], **arguments: Any) -> None:
    def run(api: Api, model_dir: str) -> Any:
        try:
            return call(make_estimator(model_dir, **arguments))
        except RuntimeError as error:  # It continues with the machine's devices.
            raise RuntimeError(str(error).partition(".")[0]) from error

    run.__name__ = f"tpu_{name}"
    case(run, "ERROR")


_asked("latest_checkpoint", lambda estimator: estimator.latest_checkpoint())
_asked("train_of_0_steps", lambda estimator: estimator.train(input_fn, steps=0))
_asked("train_of_text_steps", lambda estimator: estimator.train(input_fn, steps="1"))
_asked("train_of_float_steps", lambda estimator: estimator.train(input_fn, steps=1.5))
_asked("train_of_0_max_steps", lambda estimator: estimator.train(input_fn, max_steps=0))
_asked("train_of_text_max_steps", lambda estimator: estimator.train(input_fn, max_steps="1"))
_asked(
    "train_without_params",
    lambda estimator: estimator.train(input_fn, steps=1),
    model_fn=_without_params,
)
_asked("evaluate_without_batch_size", lambda estimator: estimator.evaluate(input_fn, steps=1))
_asked(
    "evaluate_of_text_steps",
    lambda estimator: estimator.evaluate(input_fn, steps="1"),
    eval_batch_size=8,
)
_asked("predict_without_batch_size", lambda estimator: list(estimator.predict(input_fn)))


@case
def tpu_events_of_a_training_without_tpu(api: Api, model_dir: str) -> Any:
    config = _tpu().RunConfig(
        model_dir=model_dir,
        log_step_count_steps=2,
        tpu_config=_tpu().TPUConfig(iterations_per_loop=1),
    )
    estimator = _tpu().TPUEstimator(
        _model_fn,
        config=config,
        params={"a": 1},
        use_tpu=False,
        train_batch_size=8,
        eval_on_tpu=False,
    )
    estimator.train(lambda params: input_fn(params).repeat(2), steps=7)
    return [[step, tag] for step, _, tag in events(model_dir)["."] if tag]


def _config_under(name: str, tf_config: dict[str, Any], **arguments: Any) -> None:
    def run(api: Api, model_dir: str) -> Any:
        with mock.patch.dict(os.environ, {"TF_CONFIG": json.dumps(tf_config)}):
            config = _tpu().RunConfig(**arguments)
            session = config.session_config
            return {
                "master": config.master,
                "evaluation_master": config.evaluation_master,
                "session_config": None if session is None else str(session),
                "tpu_job_name": config.tpu_config.tpu_job_name,
            }

    run.__name__ = f"tpu_config_{name}"
    case(run)


_MASTERS = {"session_master": "grpc://a", "eval_session_master": "grpc://b"}
_CLUSTER = {"cluster": {"chief": ["c:1"], "worker": ["w:1"], "ps": ["p:1"], "evaluator": ["e:1"]}}
_CHIEF = {**_CLUSTER, "task": {"type": "chief", "index": 0}}
_EVALUATOR = {"cluster": {"chief": ["c:1"]}, "task": {"type": "evaluator", "index": 0}}
_config_under("plain", {})
_config_under("masters", _MASTERS)
_config_under("masters_and_master", _MASTERS, master="grpc://m")
_config_under("masters_and_both", _MASTERS, master="grpc://m", evaluation_master="grpc://e")
_config_under("masters_and_empty_evaluation_master", _MASTERS, evaluation_master="")
_config_under("session_master", {"session_master": "grpc://a"})
_config_under("session_master_and_master", {"session_master": "grpc://a"}, master="grpc://m")
_config_under("master", {}, master="grpc://m")
_config_under("chief", _CHIEF)
_config_under("chief_and_master", _CHIEF, master="grpc://m")
_config_under("evaluator", _EVALUATOR)
_config_under("evaluator_and_master", _EVALUATOR, master="grpc://m")
_config_under("evaluator_and_masters", {**_EVALUATOR, **_MASTERS}, master="grpc://m")
_config_under("worker", {**_CLUSTER, "task": {"type": "worker", "index": 0}})
_config_under("service", {"service": {"tpu_worker_job_name": "job_of_tf_config"}})
_config_under("session_config", {}, session_config=tf1.ConfigProto(log_device_placement=True))


@case
def tpu_config_of_a_name_and_a_service(api: Api, model_dir: str) -> Any:
    tf_config = {"service": {"tpu_worker_job_name": "job_of_tf_config"}}
    with mock.patch.dict(os.environ, {"TF_CONFIG": json.dumps(tf_config)}):
        return [
            _tpu().TPUConfig(tpu_job_name="given").tpu_job_name,
            _tpu().TPUConfig(tpu_job_name="").tpu_job_name,
            _tpu().TPUConfig().tpu_job_name,
        ]


def _evaluators(name: str, index: Any, of_wrong_types: bool) -> None:
    def run(api: Api, model_dir: str) -> Any:
        tf_config = {
            "cluster": {"chief": ["c:1"]},
            "task": {"type": "evaluator", "index": index},
        }

        with mock.patch.dict(os.environ, {"TF_CONFIG": json.dumps(tf_config)}):
            config = api.estimator.RunConfig(model_dir=model_dir)
        estimator = api.estimator.Estimator(lambda features: None, config=config)
        train_spec = api.estimator.TrainSpec(lambda: None, max_steps=1)
        eval_spec = 3 if of_wrong_types else api.estimator.EvalSpec(lambda: None)
        api.estimator.train_and_evaluate(estimator, train_spec, eval_spec)

    run.__name__ = f"train_and_evaluate_in_evaluator_{name}"
    case(run)


_evaluators("1", 1, of_wrong_types=False)
_evaluators("1_with_a_spec_of_a_wrong_type", 1, of_wrong_types=True)
