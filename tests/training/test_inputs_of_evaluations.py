"""Inputs of the evaluations of one training: each evaluation reads all rows, or is not ranked."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tiers
from cases_events import events

import estimator_train as est

COLUMNS = [tf.feature_column.numeric_column("x")]
LABELS = [2.0 * row for row in range(6)]


def train_rows() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensors(({"x": [[1.0], [2.0]]}, [[2.0], [4.0]])).repeat()


def to_rows(labels: tf.data.Dataset) -> tf.data.Dataset:
    return labels.map(lambda label: ({"x": [label / 2]}, [label])).batch(2)


def read_generator() -> tf.data.Dataset:
    labels = iter(LABELS)  # Gives its rows once, as an open file does.
    return to_rows(
        tf.data.Dataset.from_generator(lambda: labels, output_signature=tf.TensorSpec([]))
    )


def read_python_function() -> tf.data.Dataset:
    labels = iter(LABELS)

    def read(_: tf.Tensor) -> tf.Tensor:
        value = tf.numpy_function(lambda: np.float32(next(labels)), [], tf.float32)
        return tf.ensure_shape(value, [])

    return to_rows(tf.data.Dataset.range(len(LABELS)).map(read))


class Record(est.Exporter):
    """Exporter that records the metrics of each evaluation."""

    name = "record"

    def __init__(self) -> None:
        self.results: list[dict[str, float]] = []

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Any,
        is_the_final_export: bool,
    ) -> None:
        self.results.append({name: float(value) for name, value in eval_result.items()})


def make_estimator(model_dir: Path, **settings: Any) -> est.Estimator:
    config = est.RunConfig(save_checkpoints_steps=2, **settings)
    return est.LinearRegressor(COLUMNS, str(model_dir), config=config)


def train(estimator: est.Estimator, input_fn: Any, *exporters: est.Exporter) -> Any:
    spec = est.EvalSpec(input_fn, steps=None, throttle_secs=0, exporters=exporters)
    return est.train_and_evaluate(estimator, est.TrainSpec(train_rows, max_steps=6), spec)


@pytest.mark.parametrize("input_fn", tiers.every(2, [read_generator, read_python_function]))
def test_each_evaluation_reads_all_rows_of_an_input_that_gives_them_once(
    input_fn: Any, tmp_path: Path
) -> None:
    record = Record()
    train(make_estimator(tmp_path), input_fn, record)
    assert [result["label/mean"] for result in record.results] == [np.mean(LABELS)] * 3
    assert all(result["average_loss"] > 0 for result in record.results)


def receive() -> Any:
    features = {"x": tf.compat.v1.placeholder(tf.float32, [None, 1])}
    return est.export.ServingInputReceiver(features, features)


def test_an_evaluation_without_batches_is_neither_written_nor_the_best(
    tmp_path: Path, caplog: Any
) -> None:
    kept = iter([3, 0, 3])  # The second evaluation finds an empty input.

    def input_fn() -> tf.data.Dataset:
        rows = to_rows(tf.data.Dataset.from_tensor_slices(np.float32(LABELS)))
        return rows.shuffle(2).take(next(kept))

    record, best = Record(), est.BestExporter("best", receive, exports_to_keep=None)
    estimator = make_estimator(tmp_path, keep_best=("loss", "min", 3))
    with caplog.at_level(logging.WARNING):
        train(estimator, input_fn, record, best)
    assert [result["global_step"] for result in record.results] == [2, 4, 6]
    assert record.results[1]["loss"] == 0
    assert len(list((tmp_path / "export" / "best").iterdir())) == 2
    ranked = json.loads((tmp_path / "best" / "best.json").read_text())
    assert [entry["step"] for entry in ranked] == [6, 2]
    written = [step for step, _, tag in events(str(tmp_path))["eval"] if tag == "loss"]
    assert written == [2, 6]
    (warning,) = [r.getMessage() for r in caplog.records if "read no batch" in r.getMessage()]
    assert "global step 4" in warning
    assert "input_fn" in warning


def test_an_evaluation_in_memory_without_batches_is_not_written(
    tmp_path: Path, caplog: Any
) -> None:
    estimator = make_estimator(tmp_path)
    hook = est.experimental.InMemoryEvaluatorHook(
        estimator, lambda: train_rows().take(0), every_n_iter=2
    )
    estimator.train(train_rows, hooks=[hook], steps=2)
    assert caplog.text.count("read no batch") == 3
    assert not events(str(tmp_path)).get("eval")
