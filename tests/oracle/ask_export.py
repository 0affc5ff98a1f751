"""Questions about exporting: outputs, receivers, and the SavedModels with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import tensorflow as tf
from file_lists import list_files
from tensorflow.core.protobuf import saved_model_pb2

v1 = tf.compat.v1
_STRING_SPEC = {
    "a": tf.io.FixedLenFeature([2], tf.float32),
    "b": tf.io.VarLenFeature(tf.string),
    "c": tf.io.RaggedFeature(tf.float32),
}


def _float(*shape: int | None) -> tf.Tensor:
    return v1.placeholder(tf.float32, shape, name="number")


def _string() -> tf.Tensor:
    return v1.placeholder(tf.string, [None], name="text")


def _sparse() -> tf.SparseTensor:
    return v1.sparse_placeholder(tf.float32, name="sparse")


def _ragged() -> tf.RaggedTensor:
    return v1.ragged.placeholder(tf.float32, 1, name="ragged")


def questions(export: Any, raw_supervised: Any, keras: Any) -> dict[str, Callable[[], Any]]:
    """Returns questions about outputs and receivers; each needs a separate graph.

    Args:
        export: the module of outputs and receivers.
        raw_supervised: `build_raw_supervised_input_receiver_fn`.
        keras: the module of `metrics`.
    """
    calls: dict[str, Callable[[], Any]] = {}
    _ask_tensors(export, calls)
    _ask_classification_and_regression(export, calls)
    _ask_supervised_outputs(export, keras, calls)
    for kind in ("ServingInputReceiver", "TensorServingInputReceiver"):
        _ask_receivers(kind, getattr(export, kind), calls)
    _ask_builders(export, raw_supervised, calls)
    return calls


def _ask_tensors(export: Any, calls: dict[str, Callable[[], Any]]) -> None:
    values = {
        "tensor": _float,
        "operation": tf.no_op,
        "float": lambda: 1.0,
        "none": lambda: None,
        "dict": lambda: {"a": _float()},
        "dict of float": lambda: {"a": 1.0},
        "integer key": lambda: {1: _float()},
        "tuple key": lambda: {("a", "b"): _float()},
        "empty": dict,
        "sparse": _sparse,
        "ragged": lambda: {"a": _ragged()},
    }
    for name, value in values.items():
        calls[f"predict {name}"] = lambda value=value: export.PredictOutput(value()).outputs
        calls[f"eval predictions {name}"] = lambda value=value: (
            export.EvalOutput(_float(), value()).predictions
        )
        calls[f"eval loss {name}"] = lambda value=value: export.EvalOutput(value()).loss
    inputs = {
        "tensor": lambda: {"in": _float(None)},
        "two": lambda: {"in": _float(None), "text": _string()},
        "sparse": lambda: {"in": _sparse()},
        "ragged": lambda: {"in": _ragged()},
        "none": dict,
    }
    for name, given in inputs.items():
        calls[f"predict signature of {name}"] = lambda given=given: export.PredictOutput(
            {"a": _float(None, 2), "b": _string()}
        ).as_signature_def(given())
    calls["predict signature of no outputs"] = lambda: export.PredictOutput({}).as_signature_def(
        {"in": _float()}
    )


def _ask_classification_and_regression(export: Any, calls: dict[str, Callable[[], Any]]) -> None:
    outputs = {
        "classification of nothing": lambda: export.ClassificationOutput(),
        "classification of scores": lambda: export.ClassificationOutput(_float(None)),
        "classification of classes": lambda: export.ClassificationOutput(classes=_string()),
        "classification of both": lambda: export.ClassificationOutput(_float(None), _string()),
        "classification of integer scores": lambda: export.ClassificationOutput(tf.constant(1)),
        "classification of doubles": lambda: export.ClassificationOutput(
            tf.constant(1.0, tf.float64)
        ),
        "classification of float": lambda: export.ClassificationOutput(1.0),
        "classification of integer classes": lambda: export.ClassificationOutput(
            classes=tf.constant(1)
        ),
        "regression": lambda: export.RegressionOutput(_float(None)),
        "regression of none": lambda: export.RegressionOutput(None),
        "regression of integers": lambda: export.RegressionOutput(tf.constant(1)),
        "regression of text": lambda: export.RegressionOutput(_string()),
        "regression of dict": lambda: export.RegressionOutput({"a": _float()}),
    }
    inputs = {
        "examples": lambda: {"examples": _string()},
        "numbers": lambda: {"examples": _float(None)},
        "two inputs": lambda: {"a": _string(), "b": _string()},
        "no input": dict,
    }
    for name, output in outputs.items():
        for given, receivers in inputs.items():
            if given == "examples" or name in ("classification of both", "regression"):
                calls[f"{name} from {given}"] = lambda o=output, r=receivers: o().as_signature_def(
                    r()
                )


def _ask_supervised_outputs(export: Any, keras: Any, calls: dict[str, Callable[[], Any]]) -> None:
    def updated() -> Any:
        metric = keras.metrics.Mean(name="average")
        metric.update_state(1.0)
        return metric

    metrics = {
        "update operation": lambda: {"m": (_float(), tf.no_op())},
        "update tensor": lambda: {"m": (_float(), _float())},
        "prefixed": lambda: {
            "metrics/m": (_float(), _float()),
            "metrics": (_float(), _float()),
            "metrics_x": (_float(), _float()),
        },
        "one tuple": lambda: (_float(), _float()),
        "float value": lambda: {"m": (1.0, _float())},
        "float update": lambda: {"m": (_float(), 1.0)},
        "integer key": lambda: {1: (_float(), _float())},
        "keras": lambda: {"m": updated()},
        "empty": dict,
    }
    for name, value in metrics.items():
        calls[f"eval metrics {name}"] = lambda value=value: (
            export.EvalOutput(_float(), {"a": _float()}, value()).metrics
        )
    prefixed = ("predictions", "predictions/b", "predictions_c", "d")
    calls["eval predictions prefixed"] = lambda: (
        export.EvalOutput(_float(), {key: _float() for key in prefixed}).predictions
    )
    calls["eval loss of dict"] = lambda: (
        export.EvalOutput({"loss": _float(), "loss_b": _float(), "c/loss": _float()}).loss
    )
    calls["eval of nothing"] = lambda: [
        getattr(export.EvalOutput(), name) for name in ("loss", "predictions", "metrics")
    ]
    calls["eval signature"] = lambda: export.EvalOutput(
        _float(), {"a": _float(None)}, {"m": (_float(), tf.no_op())}
    ).as_signature_def({"in": _float(None)})


def _ask_receivers(kind: str, receiver: Any, calls: dict[str, Callable[[], Any]]) -> None:
    values = {
        "tensor": lambda: _float(None),
        "dict": lambda: {"x": _float(None)},
        "none": lambda: None,
        "float": lambda: 1.0,
        "dict of float": lambda: {"x": 1.0},
        "dict of dict": lambda: {"x": {"y": _float()}},
        "list": lambda: [_float()],
        "integer key": lambda: {1: _float()},
        "tuple key": lambda: {("a", "b"): _float()},
        "empty": dict,
        "sparse": _sparse,
        "dict of ragged": lambda: {"x": _ragged()},
        "variable": lambda: v1.get_variable("x", [1]),
    }
    for name, value in values.items():
        calls[f"{kind}: features {name}"] = lambda value=value: receiver(value(), _string())
        calls[f"{kind}: receiver {name}"] = lambda value=value: receiver(_float(), value())
        calls[f"{kind}: alternatives {name}"] = lambda value=value: receiver(
            _float(), _string(), value()
        )
        calls[f"{kind}: an alternative {name}"] = lambda value=value: receiver(
            _float(), _string(), {"other": value()}
        )


def _ask_builders(export: Any, raw_supervised: Any, calls: dict[str, Callable[[], Any]]) -> None:
    raw = export.build_raw_serving_input_receiver_fn
    parsing = export.build_parsing_serving_input_receiver_fn
    for batch in (None, 5):
        for name, shape in {"vector": [3, 2], "scalar": [], "open": [None, 2]}.items():
            calls[f"raw {name} of batch {batch}"] = lambda shape=shape, batch=batch: raw(
                {"a": v1.placeholder(tf.int32, shape, name="given")}, batch
            )()
        calls[f"parsing of batch {batch}"] = lambda batch=batch: parsing(_STRING_SPEC, batch)()
        calls[f"supervised of batch {batch}"] = lambda batch=batch: raw_supervised(
            {"a": _float(2, 3)}, {"b": _float(2)}, batch
        )()
    calls["raw of unknown shape"] = lambda: raw({"a": v1.placeholder(tf.float32)}, 5)()
    calls["raw of nothing"] = lambda: raw({})()
    calls["raw of integer key"] = lambda: raw({1: _float(None)})()
    calls["raw called twice"] = lambda: [f() for f in [raw({"a": _float(1)})] * 2]
    pairs = {
        "tensors": lambda: (_float(None, 2), _float(None)),
        "dict and tensor": lambda: ({"a": _float(None, 2)}, _float(None)),
        "tensor and dict": lambda: (_float(None, 2), {"a": _float(None)}),
        "the same key": lambda: ({"a": _float(None)}, {"a": _float(None)}),
        "a feature named label": lambda: ({"label": _float(None)}, _float(None)),
        "a label named input": lambda: (_float(None), {"input": _float(None)}),
        "empty dicts": lambda: ({}, {}),
    }
    for name, pair in pairs.items():
        calls[f"supervised of {name}"] = lambda pair=pair: raw_supervised(*pair())()


class Export(NamedTuple):
    """A SavedModel to be made: by mode, the receiver of its graph; and its export outputs."""

    receivers: dict[str, Callable[[], Any]]
    outputs: Callable[[Any, tf.Tensor], Any] = lambda export, score: None


def exports(export: Any, raw_supervised: Any) -> dict[str, Export]:
    """Returns the SavedModels to be made, by name."""
    floats = export.build_raw_serving_input_receiver_fn({"x": tf.constant([[1.0, 2.0]])})
    supervised = raw_supervised({"x": tf.constant([[1.0, 2.0]])}, tf.constant([[1.0]]))
    receivers = _serving_receivers(export)
    return {
        "predictions only": Export({"infer": floats}),
        "all kinds from numbers": Export({"infer": floats}, _all_kinds),
        "all kinds from text": Export({"infer": receivers["text"]}, _all_kinds),
        "alternatives": Export({"infer": receivers["alternatives"]}, _all_kinds),
        "too few inputs": Export({"infer": receivers["too few"]}),
        "no inputs": Export({"infer": receivers["none"]}),
        "inside the graph": Export({"infer": receivers["inside"]}),
        "a tensor": Export({"infer": receivers["tensor"]}),
        "no outputs": Export({"infer": floats}, lambda export, score: {}),
        "odd names": Export(
            {"infer": floats},
            lambda export, score: {
                "serving_default": export.PredictOutput(score),
                1: export.PredictOutput(score),
                None: export.PredictOutput(score),
            },
        ),
        "train": Export({"train": supervised}),
        "eval": Export({"eval": supervised}, _all_kinds),
        "all modes": Export({"infer": floats, "eval": supervised, "train": supervised}),
        "serving and eval": Export({"infer": floats, "eval": supervised}),
        "infer of a supervised receiver": Export({"infer": supervised}),
    }


def _all_kinds(export: Any, score: tf.Tensor) -> dict[str, Any]:
    text = tf.strings.as_string(score)
    return {
        "serving_default": export.PredictOutput({"score": score}),
        "classify": export.ClassificationOutput(score, text),
        "a regression": export.RegressionOutput(score),
        "another": export.PredictOutput(score),
    }


def _serving_receivers(export: Any) -> dict[str, Callable[[], Any]]:
    def text(alternatives: Any = None) -> Any:
        examples = _string()
        x = tf.reshape(tf.io.decode_raw(examples, tf.float32), [-1, 2])
        others = alternatives(x) if alternatives else None
        return export.ServingInputReceiver({"x": x}, examples, others)

    def inside() -> Any:
        x, y = _float(None, 2), _float(None, 2)
        others = {"one": {"x": x}, "both": {"x": x, "y": y}, "sum": {"z": x + y}}
        return export.ServingInputReceiver({"x": x + y}, {"y": y}, others)

    def tensor() -> Any:
        x = _float(None, 2)
        return export.TensorServingInputReceiver(x, x)

    return {
        "text": text,
        "alternatives": lambda: text(lambda x: {"decoded": x, "unused": {"u": _float()}}),
        "inside": inside,
        "tensor": tensor,
        "too few": lambda: export.ServingInputReceiver({"x": _float(None, 2)}, _string()),
        "none": lambda: export.ServingInputReceiver({"x": tf.constant([[1.0, 2.0]])}, {}),
    }


def make_model_fn(estimator: Any, outputs: Callable[[Any, tf.Tensor], Any]) -> Any:
    """Returns a linear model with a metric, of dict features or a tensor."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        x = features["x"] if isinstance(features, dict) else features
        weights = v1.get_variable("weights", [2, 1], initializer=v1.ones_initializer())
        score = tf.matmul(x, weights, name="score")
        if mode == "infer":
            return estimator.EstimatorSpec(
                mode,
                predictions={"score": score},
                export_outputs=outputs(estimator.export, score),
            )
        loss = tf.reduce_mean((score - labels) ** 2, name="error")
        optimizer = v1.train.GradientDescentOptimizer(0.1)
        return estimator.EstimatorSpec(
            mode,
            predictions={"score": score},
            loss=loss,
            train_op=optimizer.minimize(loss, v1.train.get_global_step()),
            eval_metric_ops={"mae": v1.metrics.mean_absolute_error(labels, score)},
        )

    return model_fn


def saved_model(path: str) -> dict[str, Any]:
    """Returns the content of a SavedModel: files and, by tags, signatures and collections."""
    saved = saved_model_pb2.SavedModel()
    saved.ParseFromString((Path(path) / "saved_model.pb").read_bytes())
    return {
        "files": list_files(path),
        "graphs": [_meta_graph(meta) for meta in saved.meta_graphs],
    }


def _meta_graph(meta: Any) -> dict[str, Any]:
    return {
        "tags": list(meta.meta_info_def.tags),
        "signatures": {name: _signature(s) for name, s in meta.signature_def.items()},
        "collections": {
            key: len(getattr(c, c.WhichOneof("kind")).value)
            for key, c in meta.collection_def.items()
        },
        "stripped_default_attrs": meta.meta_info_def.stripped_default_attrs,
        "saver": [meta.saver_def.sharded, meta.saver_def.max_to_keep],
    }


def _signature(signature: Any) -> dict[str, Any]:
    return {
        "method": signature.method_name,
        "inputs": {key: _tensor(info) for key, info in signature.inputs.items()},
        "outputs": {key: _tensor(info) for key, info in signature.outputs.items()},
    }


def _tensor(info: Any) -> list[Any]:
    shape = None if info.tensor_shape.unknown_rank else [d.size for d in info.tensor_shape.dim]
    return [info.name, tf.as_dtype(info.dtype).name, shape]


def is_about_signatures(line: str) -> bool:
    """Returns whether a line of the log tells which signatures are exported, and which not."""
    return "ignatures" in line or "no default signature" in line or line.startswith("INFO '")
