"""Questions about what configures: RunConfig, specs, exporters, receivers, parsing, inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from breadth.subjects import With, subject
from jobs import Api

tf1 = tf.compat.v1
fc = tf.feature_column


def _fields(*names: str) -> Any:
    """Returns the attributes with these names."""

    def use(made: Any, api: Api, directory: str) -> Any:
        return {name: _seen(getattr(made, name)) for name in names}

    return use


def _seen(value: Any) -> Any:
    if callable(value) and not isinstance(value, type):
        return "callable"
    return value


def _config(api: Api, directory: str) -> dict[str, Any]:
    return {
        "model_dir": f"{directory}/model",
        "tf_random_seed": 7,
        "save_summary_steps": 3,
        "save_checkpoints_steps": 5,
        "save_checkpoints_secs": With(60, {}),
        "session_config": tf1.ConfigProto(allow_soft_placement=False),
        "keep_checkpoint_max": 3,
        "keep_checkpoint_every_n_hours": 2,
        "log_step_count_steps": 10,
        "train_distribute": None,
        "device_fn": lambda op: "/cpu:0",
        "protocol": "grpc",
        "eval_distribute": None,
        "experimental_distribute": None,
        "experimental_max_worker_delay_secs": 3,
        "session_creation_timeout_secs": 90,
        "checkpoint_save_graph_def": False,
    }


_CONFIG = _fields(
    "model_dir",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "device_fn",
    "protocol",
    "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
    "checkpoint_save_graph_def",
    *("cluster_spec", "evaluation_master", "global_id_in_cluster", "is_chief", "master"),
    *("num_ps_replicas", "num_worker_replicas", "service", "task_id", "task_type"),
)


def _config_use(config: Any, api: Api, directory: str) -> Any:
    seen = _CONFIG(config, api, directory)
    seen["session_config"] = config.session_config and str(config.session_config)
    seen["cluster_spec"] = config.cluster_spec.as_dict()
    return seen


def _replaced(api: Api, directory: str) -> dict[str, Any]:
    usual = _config(api, directory)
    return {key: usual[key] for key in usual if "distribute" not in key}


subject("RunConfig", _config, _config_use)
subject(
    "RunConfig.replace",
    _replaced,
    _config_use,
    call=lambda api, _: api.estimator.RunConfig().replace,
)


def _input_fn() -> Any:
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [1.0]))


def _receiver_fn() -> Any:
    return None


class Listener(tf1.train.CheckpointSaverListener):
    """Listens to nothing."""


subject(
    "TrainSpec",
    lambda api, _: {
        "input_fn": lambda: _input_fn(),
        "max_steps": 9,
        "hooks": [tf1.train.StopAtStepHook(last_step=3)],
        "saving_listeners": [Listener()],
    },
    lambda spec, *_: (
        [callable(spec.input_fn), spec.max_steps, len(spec.hooks)] + [len(spec.saving_listeners)]
    ),
    required=("input_fn",),
)
subject(
    "EvalSpec",
    lambda api, _: {
        "input_fn": lambda: _input_fn(),
        "steps": 9,
        "name": "more",
        "hooks": [tf1.train.StopAtStepHook(last_step=3)],
        "exporters": [api.estimator.FinalExporter("last", _receiver_fn)],
        "start_delay_secs": 2,
        "throttle_secs": 3,
    },
    lambda spec, *_: (
        [spec.steps, spec.name, len(spec.hooks), len(spec.exporters)]
        + [spec.start_delay_secs, spec.throttle_secs]
    ),
    required=("input_fn",),
)
subject(
    "WarmStartSettings",
    lambda api, directory: {
        "ckpt_to_initialize_from": f"{directory}/old",
        "vars_to_warm_start": ["a", "b"],
        "var_name_to_vocab_info": {"a": 1},
        "var_name_to_prev_var_name": {"a": "b"},
    },
    lambda made, *_: (
        [made.ckpt_to_initialize_from, list(made.vars_to_warm_start or ())]
        + [dict(made.var_name_to_vocab_info), dict(made.var_name_to_prev_var_name)]
    ),
    required=("ckpt_to_initialize_from",),
)
subject(
    "VocabInfo",
    lambda api, directory: {
        "new_vocab": f"{directory}/new",
        "new_vocab_size": 3,
        "num_oov_buckets": 1,
        "old_vocab": f"{directory}/old",
        "old_vocab_size": 2,
        "backup_initializer": tf1.zeros_initializer(),
        "axis": 0,
    },
    lambda made, *_: list(made[:5]) + [made.backup_initializer is not None, made.axis],
    required=("new_vocab", "new_vocab_size", "num_oov_buckets", "old_vocab"),
)
for _exporter, _more in (("FinalExporter", {}), ("LatestExporter", {"exports_to_keep": 2})):
    subject(
        _exporter,
        lambda api, directory, more=_more: {
            "name": "last",
            "serving_input_receiver_fn": _receiver_fn,
            "assets_extra": {"a.txt": f"{directory}/a.txt"},
            "as_text": True,
            **more,
        },
        _fields("name"),
        required=("name", "serving_input_receiver_fn"),
    )
subject(
    "BestExporter",
    lambda api, directory: {
        "name": "best",
        "serving_input_receiver_fn": _receiver_fn,
        "event_file_pattern": "eval/*.tfevents.*",
        "compare_fn": lambda best_eval_result, current_eval_result: True,
        "assets_extra": {"a.txt": f"{directory}/a.txt"},
        "as_text": True,
        "exports_to_keep": 2,
    },
    _fields("name"),
)


def _spec_of(columns: Any, *_: Any) -> Any:
    return {name: _kind(feature) for name, feature in sorted(columns.items())}


def _kind(feature: Any) -> list[Any]:
    """Class, type, shape and default of each parsed value; plain numbers without their class."""
    shape, default = getattr(feature, "shape", ()), getattr(feature, "default_value", None)
    return [type(feature).__name__, feature.dtype.name, [int(size) for size in shape], default]


for _parse, _dtype, _more in (
    ("classifier_parse_example_spec", tf.string, {}),
    ("regressor_parse_example_spec", tf.float32, {"label_dimension": 2}),
):
    subject(
        _parse,
        lambda api, _, dtype=_dtype, more=_more: {
            "feature_columns": [
                fc.numeric_column("x"),
                fc.indicator_column(fc.categorical_column_with_vocabulary_list("w", ["a", "b"])),
            ],
            "label_key": "y",
            "label_dtype": dtype,
            "label_default": With("a", {}) if dtype == tf.string else 0.5,
            **more,
            "weight_column": "weight",
        },
        _spec_of,
        required=("feature_columns", "label_key", "label_dtype"),
        flavours=("v2", "v1"),
    )


def _received(fn: Any, api: Api, directory: str) -> Any:
    with tf.Graph().as_default():
        found = fn()
        return [_shapes(found.features), _shapes(found.receiver_tensors)]


def _shapes(found: Any) -> Any:
    found = found if hasattr(found, "items") else {"": found}
    return {name: [tensor.dtype.name, str(tensor.shape)] for name, tensor in found.items()}


subject(
    "export.build_parsing_serving_input_receiver_fn",
    lambda api, _: {
        "feature_spec": {"x": tf.io.FixedLenFeature([2], tf.float32)},
        "default_batch_size": 3,
    },
    _received,
    required=("feature_spec",),
)
subject(
    "export.build_raw_serving_input_receiver_fn",
    lambda api, _: {
        "features": {"x": tf1.placeholder(tf.float32, [None, 2])},
        "default_batch_size": 3,
    },
    _received,
    required=("features",),
    in_graph=True,
)
subject(
    "experimental.build_raw_supervised_input_receiver_fn",
    lambda api, _: {
        "features": {"x": tf1.placeholder(tf.float32, [None, 2])},
        "labels": {"y": tf1.placeholder(tf.float32, [None, 2])},
        "default_batch_size": 3,
    },
    _received,
    required=("features", "labels"),
    in_graph=True,
)


def _x(*shape: int) -> Any:
    return tf1.placeholder(tf.float32, shape)


for _receiver, _features in (
    ("ServingInputReceiver", lambda: {"x": _x(2, 3)}),
    ("TensorServingInputReceiver", lambda: _x(2, 3)),
):
    subject(
        f"export.{_receiver}",
        lambda api, _, features=_features: {
            "features": features(),
            "receiver_tensors": {"x": _x(2, 3)},
            "receiver_tensors_alternatives": {"other": {"x": _x(2, 3)}},
        },
        lambda made, *_: (
            [_shapes(made.features), _shapes(made.receiver_tensors)]
            + [sorted(made.receiver_tensors_alternatives or ())]
        ),
        required=("features", "receiver_tensors"),
        in_graph=True,
    )
subject(
    "export.ClassificationOutput",
    lambda api, _: {"scores": _x(2, 3), "classes": tf1.placeholder(tf.string, [2, 3])},
    lambda made, *_: [made.scores, made.classes],
    in_graph=True,
)
subject(
    "export.RegressionOutput",
    lambda api, _: {"value": _x(2, 3)},
    lambda made, *_: made.value,
    required=("value",),
    in_graph=True,
)
subject(
    "export.PredictOutput",
    lambda api, _: {"outputs": {"a": _x(2, 3), "b": _x(2)}},
    lambda made, *_: _shapes(made.outputs),
    required=("outputs",),
    in_graph=True,
)
subject(
    "export.EvalOutput",
    lambda api, _: {
        "loss": {"loss": _x()},
        "predictions": {"a": _x(2, 3)},
        "metrics": {"m": (_x(), _x())},
    },
    lambda made, *_: (
        [_shapes(made.loss or {}), _shapes(made.predictions or {})] + [sorted(made.metrics or {})]
    ),
    in_graph=True,
)


def _batches(input_fn: Any, *_: Any) -> Any:
    with tf.Graph().as_default():
        batch = input_fn()
        with tf1.train.MonitoredSession() as session:
            return [_plain(part) for part in session.run(batch)]


def _plain(part: Any) -> Any:
    return {key: value.tolist() for key, value in part.items()} if isinstance(part, dict) else part


def _arrays(api: Api, _: str) -> dict[str, Any]:
    return {
        "x": {"x": np.arange(6, dtype=np.float32).reshape(3, 2), "z": np.arange(3)},
        "y": np.arange(3),
        "batch_size": 2,
        "num_epochs": 2,
        "shuffle": False,
        "queue_capacity": 50,
        "num_threads": 1,
    }


def _frame(api: Api, _: str) -> dict[str, Any]:
    import pandas as pd

    return {
        **_arrays(api, _),
        # Not of the strings of pandas 3, which TensorFlow 2.15 does not know.
        "x": pd.DataFrame({"x": [1.0, 2.0, 3.0], "z": pd.Series(list("abc"), dtype=object)}),
        "y": pd.Series([0, 1, 2]),
        "target_column": With("answer", {"y": pd.Series([0, 1, 2])}),
    }


for _kind, _usual in (("numpy", _arrays), ("pandas", _frame)):
    subject(
        f"inputs.{_kind}_input_fn", _usual, _batches, required=("x", "shuffle"), flavours=("v1",)
    )


def _tpu(config: Any, *_: Any) -> Any:
    return [config.iterations_per_loop, config.num_shards, config.per_host_input_for_training]


subject(
    "tpu.TPUConfig",
    lambda api, _: {
        "iterations_per_loop": 4,
        "num_shards": 2,
        "num_cores_per_replica": 2,
        "per_host_input_for_training": True,
        "tpu_job_name": "worker",
        "initial_infeed_sleep_secs": 3,
        "input_partition_dims": With(
            [[2, 1]], {"num_cores_per_replica": 2, "per_host_input_for_training": 3}
        ),
        "eval_training_input_configuration": 2,
        "experimental_host_call_every_n_steps": 2,
    },
    _tpu,
    flavours=("v1",),
)
subject(
    "tpu.RunConfig",
    lambda api, directory: {
        "tpu_config": api.estimator.tpu.TPUConfig(3),
        "evaluation_master": "local",
        "master": "grpc://host:1",
        "model_dir": f"{directory}/model",
        "save_checkpoints_steps": 5,
    },
    lambda made, *_: (
        [made.master, made.evaluation_master, made.model_dir]
        + [made.save_checkpoints_steps, made.tpu_config.iterations_per_loop]
    ),
    flavours=("v1",),
)
