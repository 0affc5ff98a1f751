"""Behaviours of EstimatorSpec: what it refuses, fills in and keeps."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from cases import case
from jobs import Api

tf1 = tf.compat.v1


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _shown(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(item) for item in value]
    if isinstance(value, tf.Tensor):
        return [value.dtype.name, str(value.shape)]
    return value if isinstance(value, str | int | None) else type(value).__name__


def _spec_case(name: str, /, mode: str | None, make: Any) -> None:
    def run(api: Api, model_dir: str) -> Any:
        with tf.Graph().as_default():
            spec = api.estimator.EstimatorSpec(mode, **make(api))
            return {key: _shown(value) for key, value in spec._asdict().items()}

    run.__name__ = f"spec_{name}"
    case(run)


def _loss() -> Any:
    return tf.constant(1.0)


def _good(api: Api) -> dict[str, Any]:
    return {"loss": _loss(), "train_op": tf.no_op(), "predictions": {"p": tf.constant([1.0])}}


class _NotHook:
    pass


_MODES = {
    "of_unknown_mode": ("unknown", lambda api: {}),
    "of_no_mode": (None, lambda api: {}),
    "of_train_mode": ("train", _good),
    "of_eval_mode": ("eval", _good),
    "of_infer_mode": ("infer", _good),
}
_TRAIN = {
    "train_without_loss": lambda api: {"train_op": tf.no_op()},
    "train_without_train_op": lambda api: {"loss": _loss()},
    "train_op_not_an_operation": lambda api: {"loss": _loss(), "train_op": "op"},
    "loss_not_a_tensor": lambda api: {"loss": 1.0, "train_op": tf.no_op()},
    "loss_a_string": lambda api: {"loss": "loss", "train_op": tf.no_op()},
    "loss_of_one_element": lambda api: {"loss": tf.constant([1.0]), "train_op": tf.no_op()},
    "loss_of_one_by_one": lambda api: {"loss": tf.constant([[1.0]]), "train_op": tf.no_op()},
    "loss_of_two_elements": lambda api: {
        "loss": tf.constant([1.0, 2.0]),
        "train_op": tf.no_op(),
    },
    "loss_of_unknown_shape": lambda api: {
        "loss": tf1.placeholder(tf.float32),
        "train_op": tf.no_op(),
    },
    "loss_of_integers": lambda api: {"loss": tf.constant(1), "train_op": tf.no_op()},
    "train_predictions_of_number": lambda api: {**_good(api), "predictions": {"p": 1}},
    "train_predictions_a_number": lambda api: {**_good(api), "predictions": 1},
    "training_hook_of_wrong_type": lambda api: {**_good(api), "training_hooks": [_NotHook()]},
    "training_hooks_not_a_list": lambda api: {**_good(api), "training_hooks": _NotHook()},
    "training_chief_hook_of_wrong_type": lambda api: {
        **_good(api),
        "training_chief_hooks": [_NotHook()],
    },
    "scaffold_of_wrong_type": lambda api: {**_good(api), "scaffold": 3},
    "train_op_a_tensor": lambda api: {**_good(api), "train_op": tf.constant(1)},
    "train_op_a_variable": lambda api: {**_good(api), "train_op": tf.Variable(1.0)},
    "train_op_a_list": lambda api: {**_good(api), "train_op": [tf.no_op()]},
}
_EVAL = {
    "eval_without_loss": lambda api: {"predictions": tf.constant([1.0])},
    "eval_loss_of_two_elements": lambda api: {"loss": tf.constant([1.0, 2.0])},
    "eval_metric_ops_not_a_dict": lambda api: {"loss": _loss(), "eval_metric_ops": [1]},
    "eval_metric_ops_of_one": lambda api: {"loss": _loss(), "eval_metric_ops": {"a": (1,)}},
    "eval_metric_ops_of_numbers": lambda api: {
        "loss": _loss(),
        "eval_metric_ops": {"a": (1, 2)},
    },
    "eval_metric_ops_of_tensors": lambda api: {
        "loss": _loss(),
        "eval_metric_ops": {"a": (_loss(), _loss())},
    },
    "eval_metric_ops_of_operation_as_value": lambda api: {
        "loss": _loss(),
        "eval_metric_ops": {"a": (tf.no_op(), tf.no_op())},
    },
    "evaluation_hook_of_wrong_type": lambda api: {
        "loss": _loss(),
        "evaluation_hooks": [_NotHook()],
    },
}
_INFER = {
    "infer_without_predictions": lambda api: {},
    "infer_predictions_of_number": lambda api: {"predictions": {"p": 1}},
    "infer_predictions_of_string": lambda api: {"predictions": {"p": "text"}},
    "infer_predictions_empty": lambda api: {"predictions": {}},
    "infer_predictions_a_list": lambda api: {"predictions": [tf.constant(1.0)]},
    "infer_predictions_a_tensor": lambda api: {"predictions": tf.constant([1.0])},
    "infer_predictions_of_sparse": lambda api: {
        "predictions": tf.sparse.from_dense([[1.0]]),
    },
    "prediction_hook_of_wrong_type": lambda api: {
        "predictions": tf.constant([1.0]),
        "prediction_hooks": [_NotHook()],
    },
    "export_outputs_not_a_dict": lambda api: {
        "predictions": tf.constant([1.0]),
        "export_outputs": 3,
    },
    "export_outputs_of_number": lambda api: {
        "predictions": tf.constant([1.0]),
        "export_outputs": {"a": 3},
    },
    "export_outputs_without_default": lambda api: {
        "predictions": tf.constant([1.0]),
        "export_outputs": {
            name: api.estimator.export.PredictOutput(tf.constant([1.0])) for name in "ab"
        },
    },
    "export_outputs_of_one": lambda api: {
        "predictions": tf.constant([1.0]),
        "export_outputs": {"a": api.estimator.export.PredictOutput(tf.constant([1.0]))},
    },
}
for _name, (_mode, _make) in _MODES.items():
    _spec_case(_name, _mode, _make)
for _mode, _specs in {"train": _TRAIN, "eval": _EVAL, "infer": _INFER}.items():
    for _name, _make in _specs.items():
        _spec_case(_name, _mode, _make)


def _output_case(name: str, /, make: Any) -> None:
    def run(api: Api, model_dir: str) -> Any:
        with tf.Graph().as_default():
            output = make(api.estimator.export)
            return [type(output).__name__, _shown(getattr(output, "outputs", None))]

    run.__name__ = f"output_{name}"
    case(run)


for _name, _make in {
    "classification_of_nothing": lambda e: e.ClassificationOutput(),
    "classification_of_string_scores": lambda e: e.ClassificationOutput(tf.constant(["a"])),
    "classification_of_number_classes": lambda e: e.ClassificationOutput(
        classes=tf.constant([1])
    ),
    "classification_of_lists": lambda e: e.ClassificationOutput([1.0], ["a"]),
    "regression_of_strings": lambda e: e.RegressionOutput(tf.constant(["a"])),
    "regression_of_number": lambda e: e.RegressionOutput(1.0),
    "predict_of_tensor": lambda e: e.PredictOutput(tf.constant([1.0])),
    "predict_of_dict": lambda e: e.PredictOutput({"a": tf.constant([1.0])}),
    "predict_of_number_key": lambda e: e.PredictOutput({1: tf.constant([1.0])}),
    "predict_of_tuple_key": lambda e: e.PredictOutput({("a", "b"): tf.constant([1.0])}),
    "predict_of_number": lambda e: e.PredictOutput({"a": 1}),
    "predict_of_empty": lambda e: e.PredictOutput({}),
    "eval_of_loss": lambda e: e.EvalOutput(tf.constant(1.0)),
    "eval_of_metrics": lambda e: e.EvalOutput(
        loss=tf.constant(1.0),
        predictions=tf.constant([1.0]),
        metrics={"m": (tf.constant(1.0), tf.no_op())},
    ),
    "export_output_is_abstract": lambda e: e.ExportOutput(),
}.items():
    _output_case(_name, _make)


@case
def mode_keys_have_values(api: Api, model_dir: str) -> Any:
    keys = api.estimator.ModeKeys
    return [keys.TRAIN, keys.EVAL, keys.PREDICT]
