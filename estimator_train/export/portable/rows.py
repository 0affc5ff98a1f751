"""Rows of an input_fn: they define the inputs of a conversion and prove its result."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.engine.graph.step_graph import open_model_graph
from estimator_train.engine.id_features import make_input_name
from estimator_train.engine.inputs.input_fn import make_inputs
from estimator_train.engine.job import Job
from estimator_train.engine.types import InputFn
from estimator_train.estimator_spec.spec import ModeKeys

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
