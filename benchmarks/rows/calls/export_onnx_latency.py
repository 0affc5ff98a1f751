"""Predictions of one row of strings: a model exported to ONNX, and a predictor that stays open."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.benchmark import OURS, Benchmark
from benchmarks.meters import measure_milliseconds

_PREDICTOR = "our predictor"


@contextmanager
def _train() -> Iterator[tuple[Any, Callable[[], Any], str]]:
    """Yields a trained wide-and-deep classifier, an input_fn, and an empty directory."""
    import tf_keras

    import estimator_train as est
    from benchmarks.census_job import make_estimator, make_input_fn, write_csv

    with tempfile.TemporaryDirectory() as base:
        data = Path(base, "rows.csv")
        write_csv(data, 1000, 1)
        estimator = make_estimator(est, tf_keras.optimizers.legacy, f"{base}/model")
        estimator.train(make_input_fn(data, True), steps=5)
        yield estimator, make_input_fn(data, False), base


def _read_row(input_fn: Callable[[], Any]) -> dict[str, Any]:
    features, _ = next(iter(input_fn().as_numpy_iterator()))
    return {name: value[:1] for name, value in features.items()}


def _time_export(quick: bool) -> float:
    import onnxruntime

    import estimator_train as est

    with _train() as (estimator, input_fn, base):
        path = f"{base}/exported"
        est.export.convert(estimator, path, input_fn, to="onnx", outputs=["probabilities"])
        sys.path.insert(0, path)
        from encoder import Encoder  # type: ignore[import-not-found]

        encoder = Encoder(f"{path}/encoder.json")
        session = onnxruntime.InferenceSession(f"{path}/model.onnx")
        row = _read_row(input_fn)
        return measure_milliseconds(
            lambda: session.run(None, encoder.encode(row)), 10 if quick else 3000
        )


def _time_predictor(quick: bool) -> float:
    with _train() as (estimator, input_fn, _), estimator.predictor() as predictor:
        row = _read_row(input_fn)
        return measure_milliseconds(lambda: predictor.predict(row), 10 if quick else 3000)


BENCHMARK = Benchmark(
    "export_onnx_latency",
    "one row of strings: ONNX export with its encoder in onnxruntime, wide-and-deep model",
    "ms",
    {OURS: _time_export, _PREDICTOR: _time_predictor},
    less_is_better=True,
    goals={_PREDICTOR: 1.0},
)
