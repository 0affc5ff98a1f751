"""Behaviours of exporting a SavedModel and of the export classes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from cases import case, logged_case
from file_lists import list_files
from jobs import Api, tiny_estimator, tiny_parts, tiny_receiver, trained
from tensorflow.core.protobuf import saved_model_pb2

tf1 = tf.compat.v1


@case
def export_before_training(api: Api, model_dir: str) -> Any:
    estimator = tiny_estimator(api, model_dir)
    estimator.export_saved_model(model_dir + "/export", tiny_receiver(api))


@case
def export_without_receiver(api: Api, model_dir: str) -> Any:
    trained(api, model_dir).export_saved_model(model_dir + "/export", None)


@case
def export_with_receiver_that_returns_none(api: Api, model_dir: str) -> Any:
    trained(api, model_dir).export_saved_model(model_dir + "/export", lambda: None)


@logged_case
def export_returns_the_directory(api: Api, model_dir: str) -> Any:
    path = trained(api, model_dir).export_saved_model(model_dir + "/export", tiny_receiver(api))
    text = path.decode() if isinstance(path, bytes) else path
    return [type(path).__name__, text, list_files(text)]


@case
def export_as_text(api: Api, model_dir: str) -> Any:
    path = trained(api, model_dir).export_saved_model(
        model_dir + "/export", tiny_receiver(api), as_text=True
    )
    return list_files(path.decode() if isinstance(path, bytes) else path)


@case
def export_with_extra_assets(api: Api, model_dir: str) -> Any:
    estimator = trained(api, model_dir)
    source = Path(model_dir) / "words.txt"
    source.write_text("one")
    path = estimator.export_saved_model(
        model_dir + "/export", tiny_receiver(api), assets_extra={"deep/words.txt": str(source)}
    )
    return list_files(path.decode() if isinstance(path, bytes) else path)


@case
def export_of_unknown_checkpoint(api: Api, model_dir: str) -> Any:
    trained(api, model_dir).export_saved_model(
        model_dir + "/export", tiny_receiver(api), checkpoint_path="absent/model.ckpt-1"
    )


@case
def export_savedmodel_the_old_name(api: Api, model_dir: str) -> Any:
    estimator = trained(api, model_dir)
    path = estimator.export_savedmodel(model_dir + "/export", tiny_receiver(api))
    text = path.decode() if isinstance(path, bytes) else path
    return [type(path).__name__, text, list_files(text)]


@case
def export_savedmodel_without_default_attributes(api: Api, model_dir: str) -> Any:
    estimator = trained(api, model_dir)
    path = estimator.export_savedmodel(
        model_dir + "/export", tiny_receiver(api), strip_default_attrs=True
    )
    return list_files(path.decode())


@case
def export_savedmodel_without_receiver(api: Api, model_dir: str) -> Any:
    trained(api, model_dir).export_savedmodel(model_dir + "/export", None)


@logged_case
def export_of_eval_mode(api: Api, model_dir: str) -> Any:
    def receiver():
        x = tf1.placeholder(tf.float32, [None, 2], name="x")
        y = tf1.placeholder(tf.float32, [None], name="y")
        return api.estimator.experimental.build_raw_supervised_input_receiver_fn({"x": x}, y)()

    estimator = trained(api, model_dir)
    path = estimator.export_saved_model(
        model_dir + "/export", receiver, experimental_mode=api.estimator.ModeKeys.EVAL
    )
    return list_files(path.decode() if isinstance(path, bytes) else path)


@case
def export_of_eval_mode_with_serving_receiver(api: Api, model_dir: str) -> Any:
    trained(api, model_dir).export_saved_model(
        model_dir + "/export",
        tiny_receiver(api),
        experimental_mode=api.estimator.ModeKeys.EVAL,
    )


@case
def export_all_of_empty_map(api: Api, model_dir: str) -> Any:
    trained(api, model_dir).experimental_export_all_saved_models(model_dir + "/export", {})


@case
def export_all_of_unknown_mode(api: Api, model_dir: str) -> Any:
    trained(api, model_dir).experimental_export_all_saved_models(
        model_dir + "/export", {"other": tiny_receiver(api)}
    )


def _export_outputs_case(name: str, /, make: Any) -> None:
    def run(api: Api, model_dir: str) -> Any:
        def model_fn(features, labels, mode):
            parts = tiny_parts(features, None)
            return api.estimator.EstimatorSpec(
                mode,
                predictions=parts["predictions"],
                export_outputs=make(api.estimator.export, parts["predictions"]["score"]),
            )

        trained(api, model_dir)
        estimator = tiny_estimator(api, model_dir, model_fn=model_fn)
        path = estimator.export_saved_model(model_dir + "/export", tiny_receiver(api))
        return signatures(path.decode() if isinstance(path, bytes) else path)

    run.__name__ = f"export_outputs_{name}"
    case(run)


def signatures(path: str) -> dict[str, Any]:
    """Signatures of a SavedModel: method, and dtype, shape and tensor name by key."""
    saved = saved_model_pb2.SavedModel()
    saved.ParseFromString((Path(path) / "saved_model.pb").read_bytes())
    found = {}
    for meta in saved.meta_graphs:
        tags = ",".join(sorted(meta.meta_info_def.tags))
        found[tags] = {
            name: {
                "method": signature.method_name,
                "inputs": {k: _info(v) for k, v in sorted(signature.inputs.items())},
                "outputs": {k: _info(v) for k, v in sorted(signature.outputs.items())},
            }
            for name, signature in sorted(meta.signature_def.items())
        }
    return found


def _info(info: Any) -> list[Any]:
    shape = None if info.tensor_shape.unknown_rank else [d.size for d in info.tensor_shape.dim]
    return [tf.dtypes.as_dtype(info.dtype).name, shape, info.name]


for _name, _make in {
    "absent": lambda export, score: None,
    "of_one_name": lambda export, score: {"only": export.PredictOutput(score)},
    "of_two_names_without_default": lambda export, score: {
        "a": export.PredictOutput(score),
        "b": export.PredictOutput({"twice": score * 2.0}),
    },
    "of_default_and_another": lambda export, score: {
        "serving_default": export.PredictOutput({"score": score}),
        "b": export.PredictOutput({"twice": score * 2.0}),
    },
    "of_regression": lambda export, score: {"serving_default": export.RegressionOutput(score)},
    "of_classification_scores": lambda export, score: {
        "serving_default": export.ClassificationOutput(scores=score[:, None])
    },
    "of_classification_classes": lambda export, score: {
        "serving_default": export.ClassificationOutput(classes=tf.strings.as_string(score))
    },
    "of_empty_classification": lambda export, score: {
        "serving_default": export.ClassificationOutput()
    },
    "of_integer_classes": lambda export, score: {
        "serving_default": export.ClassificationOutput(classes=tf.cast(score, tf.int32))
    },
    "of_string_regression": lambda export, score: {
        "serving_default": export.RegressionOutput(tf.strings.as_string(score))
    },
    "of_number": lambda export, score: {"serving_default": 3},
    "of_plain_tensor": lambda export, score: {"serving_default": score},
    "not_a_dict": lambda export, score: [score],
    "of_empty_dict": lambda export, score: {},
    "of_dict_with_number_key": lambda export, score: {
        "serving_default": export.PredictOutput({3: score})
    },
}.items():
    _export_outputs_case(_name, _make)


def _receiver_case(name: str, /, make: Any) -> None:
    def run(api: Api, model_dir: str) -> Any:
        with tf.Graph().as_default():
            receiver = make(api.estimator)
            return {
                field: _described(value)
                for field, value in receiver._asdict().items()
                if value is not None
            }

    run.__name__ = f"receiver_{name}"
    case(run)


def _described(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _described(item) for key, item in value.items()}
    if isinstance(value, tf.Tensor):
        return [value.name, value.dtype.name, str(value.shape)]
    return str(value)


def _x() -> Any:
    return tf1.placeholder(tf.float32, [None, 2], name="x")


_SPEC = {"a": tf.io.FixedLenFeature([2], tf.float32)}
for _name, _make in {
    "of_tensors": lambda e: e.export.ServingInputReceiver(_x(), _x()),
    "of_dict": lambda e: e.export.ServingInputReceiver({"x": _x()}, {"ex": _x()}),
    "without_features": lambda e: e.export.ServingInputReceiver(None, _x()),
    "of_features_not_a_tensor": lambda e: e.export.ServingInputReceiver({"x": 1}, _x()),
    "of_number_key": lambda e: e.export.ServingInputReceiver({1: _x()}, _x()),
    "of_empty_receiver_tensors": lambda e: e.export.ServingInputReceiver(_x(), {}),
    "of_receiver_tensor_not_a_tensor": lambda e: e.export.ServingInputReceiver(_x(), "x"),
    "of_alternatives_not_a_dict": lambda e: e.export.ServingInputReceiver(_x(), _x(), [1]),
    "of_alternatives": lambda e: e.export.ServingInputReceiver(_x(), _x(), {"alt": _x()}),
    "of_tensor_features": lambda e: e.export.TensorServingInputReceiver(_x(), _x()),
    "of_dict_for_tensor_features": lambda e: e.export.TensorServingInputReceiver({"x": _x()}, _x()),
    "parsing": lambda e: e.export.build_parsing_serving_input_receiver_fn(_SPEC)(),
    "parsing_of_fixed_batch": lambda e: e.export.build_parsing_serving_input_receiver_fn(
        _SPEC, 3
    )(),
    "raw_of_dict": lambda e: e.export.build_raw_serving_input_receiver_fn({"a": _x()})(),
    "raw_of_tensor": lambda e: e.export.build_raw_serving_input_receiver_fn(_x())(),
    "raw_of_fixed_batch": lambda e: e.export.build_raw_serving_input_receiver_fn({"a": _x()}, 3)(),
    "raw_of_arrays": lambda e: e.export.build_raw_serving_input_receiver_fn(
        {"a": np.zeros([2, 2], np.float32)}
    )(),
    "raw_supervised": lambda e: e.experimental.build_raw_supervised_input_receiver_fn(
        {"a": _x()}, {"b": _x()}
    )(),
    "raw_supervised_of_same_keys": lambda e: e.experimental.build_raw_supervised_input_receiver_fn(
        {"a": _x()}, {"a": _x()}
    )(),
    "raw_supervised_of_tensors": lambda e: e.experimental.build_raw_supervised_input_receiver_fn(
        _x(), _x()
    )(),
}.items():
    _receiver_case(_name, _make)


@case
def receiver_fn_given_a_dict_of_eager_tensors(api: Api, model_dir: str) -> Any:
    receiver_fn = api.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.zeros([1, 2])})
    path = trained(api, model_dir).export_saved_model(model_dir + "/export", receiver_fn)
    return os.path.isdir(path)
