"""Behaviours of Estimator.evaluate."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from cases import case, logged_case
from jobs import Api, tiny_estimator, tiny_input, tiny_model_fn, tiny_parts, trained

tf1 = tf.compat.v1


def once() -> tf.data.Dataset:
    return tiny_input(repeat=1)


def facts(result: dict[str, Any]) -> dict[str, Any]:
    """Returns an evaluation result, each value with its type."""
    return {key: [type(item).__name__, float(item)] for key, item in result.items()}


def _evaluate_case(name: str, /, **arguments: Any) -> None:
    def run(api: Api, model_dir: str) -> Any:
        return facts(trained(api, model_dir).evaluate(once, **arguments))

    run.__name__ = f"evaluate_with_{name}"
    logged_case(run)


for _name, _arguments in {
    "no_steps": {},
    "one_step": {"steps": 1},
    "zero_steps": {"steps": 0},
    "negative_steps": {"steps": -1},
    "more_steps_than_input": {"steps": 9},
    "name": {"name": "test"},
    "hook_of_wrong_type": {"hooks": [object()]},
    "unknown_checkpoint": {"checkpoint_path": "absent/model.ckpt-1"},
}.items():
    _evaluate_case(_name, **_arguments)


def _spec_case(name: str, /, **changes: Any) -> None:
    def run(api: Api, model_dir: str) -> Any:
        def model_fn(features, labels, mode):
            parts = tiny_parts(features, labels)
            changed = {key: make(parts) for key, make in changes.items()}
            return api.estimator.EstimatorSpec(mode, **{**parts, **changed})

        trained(api, model_dir)
        return facts(tiny_estimator(api, model_dir, model_fn=model_fn).evaluate(once))

    run.__name__ = f"evaluate_{name}"
    case(run)


def _mean(parts: dict[str, Any]) -> Any:
    return tf1.metrics.mean(parts["predictions"]["score"])


_spec_case("with_metric_named_loss", eval_metric_ops=lambda parts: {"loss": _mean(parts)})
_spec_case(
    "with_metric_named_global_step", eval_metric_ops=lambda parts: {"global_step": _mean(parts)}
)
_spec_case("with_metric_named_by_number", eval_metric_ops=lambda parts: {3: _mean(parts)})
_spec_case("without_metrics", eval_metric_ops=lambda parts: None)
_spec_case(
    "with_metric_of_vector_value",
    eval_metric_ops=lambda parts: {"v": tf1.metrics.mean_tensor(parts["predictions"]["score"])},
)


@case
def evaluate_with_vector_metric_keeps_the_array(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode):
        parts = tiny_parts(features, labels)
        parts["eval_metric_ops"] = {
            "v": tf1.metrics.mean_tensor(tf.ensure_shape(features["x"], [4, 2]))
        }
        return api.estimator.EstimatorSpec(mode, **parts)

    trained(api, model_dir)
    result = tiny_estimator(api, model_dir, model_fn=model_fn).evaluate(once)
    return [type(result["v"]).__name__, np.asarray(result["v"]).tolist()]


@case
def evaluate_with_string_metric(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode):
        parts = tiny_parts(features, labels)
        parts["eval_metric_ops"] = {"text": (tf.constant("said"), tf.no_op())}
        return api.estimator.EstimatorSpec(mode, **parts)

    trained(api, model_dir)
    result = tiny_estimator(api, model_dir, model_fn=model_fn).evaluate(once)
    return [type(result["text"]).__name__, str(result["text"])]


@case
def evaluate_with_keras_metric(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode):
        parts = tiny_parts(features, labels)
        if labels is not None:
            metric = api.keras.metrics.MeanAbsoluteError(name="kmae")
            metric.update_state(labels, parts["predictions"]["score"])
            mean = api.keras.metrics.Mean()
            mean.update_state(parts["predictions"]["score"])
            parts["eval_metric_ops"] = {"kmae": metric, "mean": mean}
        return api.estimator.EstimatorSpec(mode, **parts)

    estimator = trained(api, model_dir, model_fn=model_fn)
    return [facts(estimator.evaluate(once)), sorted(estimator.get_variable_names())]


@case
def evaluate_with_keras_metric_never_updated(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode):
        parts = tiny_parts(features, labels)
        parts["eval_metric_ops"] = {"kmae": api.keras.metrics.MeanAbsoluteError()}
        return api.estimator.EstimatorSpec(mode, **parts)

    trained(api, model_dir)
    tiny_estimator(api, model_dir, model_fn=model_fn).evaluate(once)


@logged_case
def evaluate_before_training(api: Api, model_dir: str) -> Any:
    return facts(tiny_estimator(api, model_dir).evaluate(once))


@case
def evaluate_before_training_in_an_existing_directory(api: Api, model_dir: str) -> Any:
    Path(model_dir).mkdir(parents=True)
    return facts(tiny_estimator(api, model_dir).evaluate(once))


@case
def evaluate_without_a_loss(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode):
        return api.estimator.EstimatorSpec(mode, predictions=features["x"])

    trained(api, model_dir)
    tiny_estimator(api, model_dir, model_fn=model_fn).evaluate(once)


@case
def evaluate_of_an_empty_input(api: Api, model_dir: str) -> Any:
    return facts(trained(api, model_dir).evaluate(lambda: once().take(0)))


@case
def evaluate_averages_the_loss_over_batches(api: Api, model_dir: str) -> Any:
    estimator = trained(api, model_dir)
    return [facts(estimator.evaluate(lambda size=size: tiny_input(size, 1))) for size in (8, 4, 3)]


@logged_case
def evaluate_a_checkpoint_by_path(api: Api, model_dir: str) -> Any:
    config = api.estimator.RunConfig(save_checkpoints_steps=1)
    estimator = trained(api, model_dir, steps=3, config=config)
    path = os.path.join(model_dir, "model.ckpt-1")
    return facts(estimator.evaluate(once, checkpoint_path=path))


@logged_case
def evaluate_logs_every_tenth_of_its_steps(api: Api, model_dir: str) -> Any:
    return facts(trained(api, model_dir).evaluate(tiny_input, steps=25))


@case
def evaluate_with_a_hook_sees_its_calls(api: Api, model_dir: str) -> Any:
    calls = []

    class Hook(tf1.train.SessionRunHook):
        def begin(self):
            calls.append("begin")

        def before_run(self, run_context):
            calls.append("before")

        def after_run(self, run_context, run_values):
            calls.append("after")

        def end(self, session):
            calls.append("end")

    def model_fn(features, labels, mode):
        parts = tiny_parts(features, labels)
        return api.estimator.EstimatorSpec(mode, evaluation_hooks=[Hook()], **parts)

    estimator = trained(api, model_dir, model_fn=model_fn)
    estimator.evaluate(once, hooks=[Hook()])
    return calls


@case
def evaluate_of_nan_loss(api: Api, model_dir: str) -> Any:
    def model_fn(features, labels, mode):
        parts = tiny_parts(features, labels)
        return api.estimator.EstimatorSpec(mode, **{**parts, "loss": parts["loss"] * np.nan})

    trained(api, model_dir)
    result = tiny_estimator(api, model_dir, model_fn=model_fn).evaluate(once)
    return {key: str(item) for key, item in result.items()}


@case
def evaluate_with_metric_not_a_tuple(api: Api, model_dir: str) -> Any:
    trained(api, model_dir)
    model_fn = tiny_model_fn(api, eval_metric_ops={"bad": 1})
    tiny_estimator(api, model_dir, model_fn=model_fn).evaluate(once)


@case
def evaluate_with_metrics_not_a_dict(api: Api, model_dir: str) -> Any:
    trained(api, model_dir)
    model_fn = tiny_model_fn(api, eval_metric_ops=[1])
    tiny_estimator(api, model_dir, model_fn=model_fn).evaluate(once)
