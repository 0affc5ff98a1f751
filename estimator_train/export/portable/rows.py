"""Inputs of a conversion: rows of an input_fn, and how feature columns convert values to ids.

The rows define the inputs and prove the result. An encoder without TensorFlow converts values as
the descriptions of the columns say.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.engine.graph.step_graph import open_model_graph
from estimator_train.engine.inputs.input_fn import make_inputs
from estimator_train.engine.job import Job
from estimator_train.engine.portability import make_input_name
from estimator_train.engine.types import InputFn
from estimator_train.estimator_spec import ModeKeys

SINGLE = "input"  # Name of features that are a single tensor.
_v1 = tf.compat.v1


@dataclasses.dataclass(frozen=True)
class Rows:
    """Features of some examples.

    Attributes:
      specs: Feature name to the type of its tensors, of any batch size.
      values: Feature name to an array, SparseTensorValue or RaggedTensorValue.
      is_single: Whether model_fn takes a single tensor instead of a dict.
    """

    specs: dict[str, Any]
    values: dict[str, Any]
    is_single: bool

    def make_placeholders(self) -> dict[str, Any]:
        """Returns placeholders for the features, named by them, in the default graph."""
        return {name: _make_placeholder(name, spec) for name, spec in self.specs.items()}

    def make_constants(self) -> dict[str, Any]:
        """Returns the features as tensors in the default graph."""
        return {name: _make_constant(value) for name, value in self.values.items()}

    def get_plain_values(self) -> dict[str, Any]:
        """Returns the features for an encoder: arrays, or lists of lists."""
        return {name: _make_plain(value) for name, value in self.values.items()}


def read_rows(job: Job, input_fn: InputFn, count: int) -> Rows:
    """Reads rows of an input_fn.

    Args:
      job: The estimator.
      input_fn: The user's input_fn.
      count: Number of rows; fewer if the input ends or if the next batch has another shape.

    Raises:
      ValueError: The input is empty, or a feature has a type that cannot be fed.
    """
    with open_model_graph(job) as graph:
        inputs = make_inputs(job, input_fn, ModeKeys.PREDICT)
        is_single = not isinstance(inputs.features, Mapping)
        features = {SINGLE: inputs.features} if is_single else dict(inputs.features)
        specs = {name: _make_spec(name, tensor) for name, tensor in features.items()}
        with _v1.Session(graph=graph) as session:
            session.run(_v1.tables_initializer())
            if inputs.initializer is not None:
                session.run(inputs.initializer)
            batches = _read_batches(session, features, count, repeats=inputs.iterator is not None)
    joined = {name: _join([batch[name] for batch in batches], count) for name in features}
    return Rows(specs, joined, is_single)


def _read_batches(
    session: tf.compat.v1.Session, features: Mapping[str, Any], count: int, repeats: bool
) -> list[dict[str, Any]]:
    batches: list[dict[str, Any]] = []
    rows = 0
    while rows < count and (repeats or not batches):
        try:
            batch = session.run(features)
        except tf.errors.OutOfRangeError:
            break
        if batches and _list_shapes(batch) != _list_shapes(batches[0]):
            break  # Batches that are padded to different lengths cannot be joined.
        batches.append(batch)
        rows += max((_count(value) for value in batch.values()), default=count)
    if not rows:
        raise ValueError(
            "input_fn gave no rows, and a conversion is proved with some: return the rows of a "
            "file of examples."
        )
    return batches


def _make_spec(name: str, tensor: Any) -> Any:
    if not isinstance(tensor, (tf.Tensor, tf.SparseTensor)):
        raise ValueError(
            f"feature '{name}' is {type(tensor).__name__}, and a conversion takes dense and sparse "
            "tensors: call to_tensor() or to_sparse() in the input_fn."
        )
    shape = None if tensor.shape.rank is None else [None, *tensor.shape[1:]]
    kind = tf.SparseTensorSpec if isinstance(tensor, tf.SparseTensor) else tf.TensorSpec
    return kind(shape, tensor.dtype)


def _make_placeholder(name: str, spec: Any) -> Any:
    name = make_input_name(name)
    if isinstance(spec, tf.SparseTensorSpec):
        return _v1.sparse_placeholder(spec.dtype, spec.shape, name)
    return _v1.placeholder(spec.dtype, spec.shape, name)


def _make_constant(value: Any) -> Any:
    if isinstance(value, _v1.SparseTensorValue):
        return tf.SparseTensor(*value)
    return tf.constant(value)


def _make_plain(value: Any) -> Any:
    if not isinstance(value, _v1.SparseTensorValue):
        return value
    rows: list[list[Any]] = [[] for _ in range(value.dense_shape[0])]
    for place, entry in zip(value.indices, value.values, strict=True):
        rows[place[0]].append(entry)
    return rows


def _count(value: Any) -> int:
    is_sparse = isinstance(value, _v1.SparseTensorValue)
    return int(value.dense_shape[0]) if is_sparse else len(value)


def _list_shapes(batch: Mapping[str, Any]) -> list[Any]:
    return [np.shape(v)[1:] for v in batch.values() if not isinstance(v, _v1.SparseTensorValue)]


def _join(values: list[Any], count: int) -> Any:
    """Returns the first rows of the batches of one feature."""
    if not isinstance(values[0], _v1.SparseTensorValue):
        return np.concatenate(values)[:count]
    starts = np.cumsum([0, *(_count(value) for value in values)])
    indices = np.concatenate(
        [
            v.indices + [start, *[0] * (v.indices.shape[1] - 1)]
            for v, start in zip(values, starts, strict=False)
        ]
    )
    kept = indices[:, 0] < count
    shape = np.max([value.dense_shape for value in values], axis=0)
    shape[0] = min(starts[-1], count)
    joined = np.concatenate([value.values for value in values])
    return _v1.SparseTensorValue(indices[kept], joined[kept], shape)


class UnsupportedModelError(ValueError):
    """Error for a model that cannot be converted; its message names the part and a way out."""


def describe_column(column: Any, specs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the description of a categorical column, for `encoder.json`.

    Args:
      column: The column.
      specs: Feature name to its TensorSpec or SparseTensorSpec.

    Raises:
      UnsupportedModelError: An encoder cannot compute the column.
    """
    if hasattr(column, "weight_feature_key"):
        return {
            "kind": "weighted",
            "column": describe_column(column.categorical_column, specs),
            "weights": column.weight_feature_key,
        }
    column = getattr(column, "categorical_column", column)
    if hasattr(column, "hash_key"):
        # TensorFlow's operation hashes the dense keys after all others.
        keys = sorted(_list_leaves(column), key=lambda key: _is_dense(key, specs))
        return {
            "kind": "cross",
            "keys": [_describe_key(key, column.name, specs) for key in keys],
            "buckets": column.hash_bucket_size,
            # TensorFlow's default for crosses without a key.
            "hash_key": 0xDECAFCAFFE if column.hash_key is None else column.hash_key,
        }
    if hasattr(column, "boundaries"):
        return _describe_buckets(column)
    described = {"feature": column.key}
    if hasattr(column, "number_buckets"):
        default = column.default_value
        return described | {
            "kind": "identity",
            "dtype": "int64",
            "buckets": column.number_buckets,
            "default": default,
        }
    described["dtype"] = "string" if column.dtype == tf.string else "int64"
    if hasattr(column, "hash_bucket_size"):
        return described | {"kind": "hash", "buckets": column.hash_bucket_size}
    return described | {
        "kind": "vocabulary",
        "vocabulary": _read_vocabulary(column),
        "oov_buckets": column.num_oov_buckets,
        "default": -1 if column.default_value is None else column.default_value,
    }


def _list_leaves(column: Any) -> list[Any]:
    """Returns the keys of a cross; a cross among them is replaced by its keys."""
    leaves: list[Any] = []
    for key in column.keys:
        leaves += _list_leaves(key) if hasattr(key, "hash_key") else [key]
    return leaves


def _is_dense(key: Any, specs: Mapping[str, Any]) -> bool:
    return isinstance(key, str) and not isinstance(specs[key], tf.SparseTensorSpec)


def _describe_key(key: Any, cross: str, specs: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(key, str):
        dtype = "string" if specs[key].dtype == tf.string else "int64"
        return {"kind": "fingerprint", "feature": key, "dtype": dtype}
    if not hasattr(key, "num_buckets"):
        raise UnsupportedModelError(
            f"Column '{cross}' crosses {key!r}, which an encoder outside of TensorFlow cannot "
            "compute. Export with --to=saved_model."
        )
    return describe_column(key, specs)


def _describe_buckets(column: Any) -> dict[str, Any]:
    if column.source_column.normalizer_fn is not None:
        raise UnsupportedModelError(
            f"A cross uses the buckets of '{column.source_column.key}', whose normalizer_fn is "
            "Python code that an encoder cannot run. Move the normalizer_fn to the input_fn, or "
            "export with --to=saved_model."
        )
    boundaries = [float(boundary) for boundary in column.boundaries]
    return {"kind": "buckets", "feature": column.source_column.key, "boundaries": boundaries}


def _read_vocabulary(column: Any) -> list[Any]:
    is_text = column.dtype == tf.string
    if hasattr(column, "vocabulary_list"):
        words = column.vocabulary_list
    else:
        with tf.io.gfile.GFile(column.vocabulary_file, "rb") as file:
            lines = file.read().split(b"\n")
        words = [line.removesuffix(b"\r") for line in lines[:-1] + [w for w in lines[-1:] if w]]
        words = words[: column.vocabulary_size]
    if is_text:
        return [
            word.decode("utf-8", "surrogateescape") if isinstance(word, bytes) else str(word)
            for word in words
        ]
    return [int(word) for word in words]
