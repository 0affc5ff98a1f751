"""Questions about Estimator and its methods."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from breadth.subjects import With, subject
from file_lists import list_files
from jobs import Api, tiny_data, tiny_estimator, tiny_input, tiny_parts, tiny_receiver, trained

tf1 = tf.compat.v1


def _model_fn(api: Api) -> Any:
    def model_fn(features: Any, labels: Any, mode: Any, params: Any, config: Any) -> Any:
        return api.estimator.EstimatorSpec(mode, **tiny_parts(features, labels))

    return model_fn


def _once() -> Any:
    return tiny_input(repeat=1)


def _trained(estimator: Any, api: Api, directory: str) -> Any:
    estimator.train(_once)
    result = estimator.evaluate(_once)
    return [dict(result), estimator.get_variable_names(), sorted(estimator.params)]


subject(
    "Estimator",
    lambda api, directory: {
        "model_fn": _model_fn(api),
        "model_dir": f"{directory}/model",
        "config": api.estimator.RunConfig(keep_checkpoint_max=2),
        "params": {"a": 1, "b": [2]},
        "warm_start_from": None,
    },
    _trained,
    required=("model_fn", "model_dir"),
    flavours=("v2", "v1"),
)


class Hook(tf1.train.SessionRunHook):
    """Counts the calls."""

    def __init__(self) -> None:
        self.calls = 0

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.calls += 1


class Listener(tf1.train.CheckpointSaverListener):
    """Does nothing."""


def _after_train(estimator: Any, api: Api, directory: str) -> Any:
    names = estimator.get_variable_names()
    return {name: estimator.get_variable_value(name) for name in names}


subject(
    "Estimator.train",
    lambda api, _: {
        "input_fn": lambda: tiny_input(repeat=3),
        "hooks": [Hook()],
        "steps": 2,
        "max_steps": With(3, {"steps": None}),
        "saving_listeners": [Listener()],
    },
    _after_train,
    call=lambda api, d: tiny_estimator(api, f"{d}/model").train,
    required=("input_fn",),
)


def _results(found: Any, api: Api, directory: str) -> Any:
    events = sorted(str(p.relative_to(directory)) for p in Path(directory).rglob("eval*"))
    return [dict(found), events]


subject(
    "Estimator.evaluate",
    lambda api, directory: {
        "input_fn": lambda: _once(),
        "steps": 1,
        "hooks": [Hook()],
        "checkpoint_path": f"{directory}/model/model.ckpt-2",
        "name": "more",
    },
    _results,
    call=lambda api, d: trained(api, f"{d}/model").evaluate,
    required=("input_fn",),
)


def _rows(found: Any, api: Api, directory: str) -> Any:
    rows = list(found)
    return [len(rows), {key: np.asarray(rows[0][key]) for key in sorted(rows[0])}]


subject(
    "Estimator.predict",
    lambda api, directory: {
        "input_fn": lambda: _once(),
        "predict_keys": ["score"],
        "hooks": [Hook()],
        "checkpoint_path": f"{directory}/model/model.ckpt-2",
        "yield_single_examples": False,
    },
    _rows,
    call=lambda api, d: trained(api, f"{d}/model").predict,
    required=("input_fn",),
)


def _asset(directory: str) -> str:
    path = Path(directory) / "words.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text("a", encoding="utf-8")
    return str(path)


_EXPORT = {
    "assets_extra": lambda d: {"more/words.txt": _asset(d)},
    "as_text": lambda d: True,
    "checkpoint_path": lambda d: f"{d}/model/model.ckpt-2",
}
subject(
    "Estimator.export_saved_model",
    lambda api, directory: {
        "export_dir_base": f"{directory}/export",
        "serving_input_receiver_fn": tiny_receiver(api),
        **{key: make(directory) for key, make in _EXPORT.items()},
        "experimental_mode": "infer",
    },
    lambda path, api, directory: [list_files(path), type(path).__name__],
    call=lambda api, d: trained(api, f"{d}/model").export_saved_model,
    required=("export_dir_base", "serving_input_receiver_fn"),
)
subject(
    "Estimator.experimental_export_all_saved_models",
    lambda api, directory: {
        "export_dir_base": f"{directory}/export",
        "input_receiver_fn_map": {"infer": tiny_receiver(api)},
        **{key: make(directory) for key, make in _EXPORT.items()},
    },
    lambda path, api, directory: [list_files(path), type(path).__name__],
    call=lambda api, d: trained(api, f"{d}/model").experimental_export_all_saved_models,
    required=("export_dir_base", "input_receiver_fn_map"),
)
subject(
    "Estimator.eval_dir",
    lambda api, _: {"name": "more"},
    lambda found, *_: found,
    call=lambda api, d: tiny_estimator(api, f"{d}/model").eval_dir,
)
subject(
    "Estimator.get_variable_value",
    lambda api, _: {"name": "weight"},
    lambda found, *_: found,
    call=lambda api, d: trained(api, f"{d}/model").get_variable_value,
    required=("name",),
)


def _spec_values(spec: Any, api: Api, directory: str) -> Any:
    found = {name: getattr(spec, name) for name in spec._fields}
    return {
        name: len(value) if name.endswith("hooks") else bool(value is not None)
        for name, value in found.items()
    }


def _spec(api: Api, _: str) -> dict[str, Any]:
    features = {"x": tf.constant(tiny_data()[0])}
    tf1.train.get_or_create_global_step()
    parts = tiny_parts(features, tf.constant(tiny_data()[1]))
    return {
        "mode": "train",
        "predictions": parts["predictions"],
        "loss": parts["loss"],
        "train_op": parts["train_op"],
        "eval_metric_ops": parts["eval_metric_ops"],
        "export_outputs": {"a": api.estimator.export.PredictOutput(parts["predictions"])},
        "training_chief_hooks": [Hook()],
        "training_hooks": [Hook()],
        "scaffold": tf1.train.Scaffold(),
        "evaluation_hooks": [Hook()],
        "prediction_hooks": [Hook()],
    }


subject(
    "EstimatorSpec",
    _spec,
    _spec_values,
    required=("mode", "predictions", "loss", "train_op"),
    in_graph=True,
)


def _estimator(api: Api, directory: str) -> Any:
    return trained(api, f"{directory}/model")


subject(
    "add_metrics",
    lambda api, d: {
        "estimator": _estimator(api, d),
        "metric_fn": lambda labels, predictions: {
            "more": tf1.metrics.mean(labels - predictions["score"])
        },
    },
    lambda made, api, d: made.evaluate(_once),
    required=("estimator", "metric_fn"),
)
subject(
    "experimental.call_logit_fn",
    lambda api, d: {
        "logit_fn": lambda features, mode, params, config: features["x"] + params["a"],
        "features": {"x": tf.constant([[1.0]])},
        "mode": "train",
        "params": {"a": 1.0},
        "config": api.estimator.RunConfig(),
    },
    lambda logits, *_: tf1.Session().run(logits),
    required=("logit_fn", "features", "mode", "params", "config"),
    in_graph=True,
)


def _with_hook(hook: Any, api: Api, directory: str) -> Any:
    estimator = tiny_estimator(api, f"{directory}/model")
    estimator.train(tiny_input, hooks=[hook], steps=4)
    return [type(hook).__name__.startswith("_"), int(estimator.get_variable_value("global_step"))]


for _rule in ("stop_if_higher_hook", "stop_if_lower_hook"):
    subject(
        f"experimental.{_rule}",
        lambda api, d: {
            "estimator": tiny_estimator(api, f"{d}/model"),
            "metric_name": "loss",
            "threshold": 0.5,
            "eval_dir": f"{d}/model/eval",
            "min_steps": 1,
            "run_every_secs": With(None, {"run_every_steps": 1}),
            "run_every_steps": With(1, {"run_every_secs": None}),
        },
        lambda hook, api, d: _with_hook(hook, api, d)[1],
        required=("estimator", "metric_name", "threshold"),
        forms=3,
    )
for _rule in ("decrease", "increase"):
    subject(
        f"experimental.stop_if_no_{_rule}_hook",
        lambda api, d, rule=_rule: {
            "estimator": tiny_estimator(api, f"{d}/model"),
            "metric_name": "loss",
            f"max_steps_without_{rule}": 5,
            "eval_dir": f"{d}/model/eval",
            "min_steps": 1,
            "run_every_secs": With(None, {"run_every_steps": 1}),
            "run_every_steps": With(1, {"run_every_secs": None}),
        },
        lambda hook, api, d: _with_hook(hook, api, d)[1],
        required=("estimator", "metric_name", f"max_steps_without_{_rule}"),
        forms=3,
    )
subject(
    "experimental.make_early_stopping_hook",
    lambda api, d: {
        "estimator": tiny_estimator(api, f"{d}/model"),
        "should_stop_fn": lambda: True,
        "run_every_secs": With(None, {"run_every_steps": 1}),
        "run_every_steps": With(1, {"run_every_secs": None}),
    },
    lambda hook, api, d: _with_hook(hook, api, d)[1],
    required=("estimator", "should_stop_fn"),
)
subject(
    "experimental.make_stop_at_checkpoint_step_hook",
    lambda api, d: {
        "estimator": tiny_estimator(api, f"{d}/model"),
        "last_step": 3,
        "wait_after_file_check_secs": 1,
    },
    lambda hook, api, d: hook is not None,
    required=("estimator", "last_step"),
)


class _Evaluating:
    """Makes the hook, and trains with it."""

    def __init__(self, api: Api, directory: str) -> None:
        self.api = api

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        estimator = args[0] if args else kwargs["estimator"]
        hook = self.api.estimator.experimental.InMemoryEvaluatorHook(*args, **kwargs)
        estimator.train(tiny_input, hooks=[hook], steps=3)
        return estimator.model_dir


subject(
    "experimental.InMemoryEvaluatorHook",
    lambda api, d: {
        "estimator": tiny_estimator(api, f"{d}/model"),
        "input_fn": lambda: _once(),
        "steps": 1,
        "hooks": [Hook()],
        "name": "memory",
        "every_n_iter": 2,
    },
    lambda model_dir, api, d: sorted(os.listdir(model_dir)).count("eval"),
    call=lambda api, d: _Evaluating(api, d),
    forms=4,
    required=("estimator", "input_fn"),
)
subject(
    "train_and_evaluate",
    lambda api, d: {
        "estimator": tiny_estimator(api, f"{d}/model"),
        "train_spec": api.estimator.TrainSpec(tiny_input, max_steps=2),
        "eval_spec": api.estimator.EvalSpec(_once, steps=1),
    },
    lambda found, api, d: [found[0], list(found[1])],
    required=("estimator", "train_spec", "eval_spec"),
)
