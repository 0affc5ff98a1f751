"""Trains a canned estimator from fixed values and writes down its figures."""

from __future__ import annotations

import itertools
import re
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from cases_export import signatures
from jobs import Api

tf1 = tf.compat.v1
STEPS = 20
_DISTRIBUTION = re.compile("TruncatedNormal|Normal|Uniform|Qr")


class Case(NamedTuple):
    """A canned estimator and its input.

    Attributes:
        build: Makes it from an API, a model directory and a RunConfig.
        train_input: An input_fn without an end.
        eval_input: The input_fn of evaluation and prediction.
        columns: Makes its feature columns, for the export.
        eval_steps: Batches to evaluate; all by default.
        random: Whether training is random, so that its figures are not compared.
    """

    build: Callable[[Api, str, Any], Any]
    train_input: Callable[[], Any]
    eval_input: Callable[[], Any]
    columns: Callable[[], list[Any]]
    eval_steps: int | None = None
    random: bool = False


class FixedValues(tf1.train.SessionRunHook):
    """Assigns values to trainable variables that depend on their names and shapes alone.

    The centers of k-means keep the values with which they begin.

    Attributes:
        rules: How the variables would have begun, by their names.
    """

    def begin(self) -> None:
        variables = [
            variable
            for variable in tf1.trainable_variables()
            if variable.dtype.is_floating and not variable.op.name.startswith("clusters")
        ]
        self.rules = {variable.op.name: _rule(variable) for variable in variables}
        with tf.control_dependencies(None):
            self._assign = [
                tf1.assign(variable, fixed(variable.op.name, variable.shape))
                for variable in variables
            ]

    def after_create_session(self, session: Any, coord: Any) -> None:
        del coord
        session.run(self._assign)


def fixed(name: str, shape: Any) -> np.ndarray:
    random = np.random.RandomState(zlib.crc32(name.encode()))
    return (0.3 * random.standard_normal(tuple(shape))).astype(np.float32)


def _rule(variable: Any) -> list[Any]:
    """Returns the distributions that make a variable's initial value, and their numbers.

    Stateful and stateless operations of one distribution are one rule.
    """
    kinds, numbers, left, seen = set(), set(), [variable.initial_value.op], set()
    while left:
        operation = left.pop()
        if operation.name in seen:
            continue
        seen.add(operation.name)
        left += [tensor.op for tensor in operation.inputs]
        kinds.update(_DISTRIBUTION.findall(operation.type))
        if operation.type == "Const" and operation.outputs[0].dtype.is_floating:
            values = tf.make_ndarray(operation.get_attr("value"))
            numbers.update(float(value) for value in np.unique(values))
    return [sorted(kinds), sorted(numbers)]


def observe(case: Case, api: Api) -> dict[str, Any]:
    """Train 20 steps, evaluate, predict and export: figures by name, ready for JSON."""
    with tempfile.TemporaryDirectory() as base:
        model_dir = f"{base}/model"
        config = api.estimator.RunConfig(save_summary_steps=1, tf_random_seed=1)
        estimator = case.build(api, model_dir, config)
        begin = FixedValues()
        estimator.train(case.train_input, hooks=[begin], steps=STEPS)
        result = estimator.evaluate(case.eval_input, steps=case.eval_steps)
        predictions = list(itertools.islice(estimator.predict(case.eval_input), 3))
        exported = estimator.export_saved_model(f"{base}/export", receiver(api, case.columns()))
        summaries = _summaries(model_dir)
        return {
            "initial values": begin.rules,
            "variables": _variables(estimator),
            "losses": summaries.pop("loss")[1:] if not case.random else [],
            "summaries": {
                tag: [found[0], *([] if case.random else found[1:2] + found[-1:])]
                for tag, found in sorted(summaries.items())
            },
            "evaluation": {
                key: [type(value).__name__, None if case.random else float(value)]
                for key, value in result.items()
            },
            "evaluation tags": {
                tag: found[0] for tag, found in sorted(_summaries(f"{model_dir}/eval").items())
            },
            "predictions": [
                {
                    key: [str(value.dtype), list(value.shape)]
                    + ([] if case.random else [_plain(value)])
                    for key, value in row.items()
                }
                for row in predictions
            ],
            "signatures": plain_signatures(exported),
        }


def receiver(api: Api, columns: list[Any]) -> Callable[[], Any]:
    spec = tf.feature_column.make_parse_example_spec(columns)
    spec["weight"] = tf.io.FixedLenFeature([], tf.float32)
    return api.estimator.export.build_parsing_serving_input_receiver_fn(spec)


def losses(model_dir: str) -> list[float]:
    """Returns the loss of every step, from the event file."""
    return _summaries(model_dir)["loss"][1:]


def plain_signatures(exported: Any) -> Any:
    """Signatures of a SavedModel, without names of tensors."""
    return _without_tensor_names(
        signatures(exported.decode() if isinstance(exported, bytes) else exported)
    )


def _without_tensor_names(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: _without_tensor_names(item) for key, item in found.items()}
    return found[:2] if isinstance(found, list) else found


def _variables(estimator: Any) -> dict[str, list[Any]]:
    """Types and shapes by name, and the values of scalars."""
    reader = tf.train.load_checkpoint(estimator.latest_checkpoint())
    dtypes, shapes = reader.get_variable_to_dtype_map(), reader.get_variable_to_shape_map()
    found = {name: [dtypes[name].name, shapes[name]] for name in sorted(shapes)}
    for name, shape in shapes.items():
        if not shape:
            found[name].append(float(reader.get_tensor(name)))
    return found


def _summaries(model_dir: str) -> dict[str, list[Any]]:
    """Returns the kind of each tag, then its values at each step."""
    found: dict[str, list[Any]] = {}
    for path in sorted(Path(model_dir).glob("events.*")):
        for event in tf1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if "/sec" in value.tag:
                    continue
                kind = value.WhichOneof("value")
                found.setdefault(value.tag, [kind])
                if kind == "simple_value":
                    found[value.tag].append(value.simple_value)
    return found


def _plain(value: np.ndarray) -> Any:
    return [item.decode() if isinstance(item, bytes) else float(item) for item in value.reshape(-1)]
