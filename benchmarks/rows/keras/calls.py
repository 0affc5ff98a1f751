"""`predict` of a linear Keras model on arrays in memory, with a new lambda in each call."""

import tempfile
import time
from statistics import median
from typing import Any

from benchmarks.apis import Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.meters import measure_milliseconds
from benchmarks.picture_job import LINEAR

_EXAMPLES, _BATCH, _TIMES = 8192, 256, 12


def _train(apis: Apis, model_dir: str, data: tuple[Any, Any]) -> Any:
    first_rows = data[0][:64], data[1][:64]
    estimator = LINEAR.estimator(apis, model_dir)
    return estimator.train(lambda: LINEAR.training_input(*first_rows), steps=1)


def _measure_rows_per_second(apis: Apis, quick: bool) -> float:
    import tensorflow as tf

    x, y = LINEAR.pictures(_BATCH if quick else _EXAMPLES)
    with tempfile.TemporaryDirectory() as model_dir:
        estimator = _train(apis, model_dir, (x, y))
        rates = []
        for _ in range(2 if quick else 4):
            start = time.perf_counter()
            predictions = estimator.predict(
                lambda: tf.data.Dataset.from_tensor_slices(x).batch(_BATCH).repeat(_TIMES)
            )
            count = sum(1 for _ in predictions)
            rates.append(count / (time.perf_counter() - start))
        return median(rates[1:])


def _measure_one(apis: Apis, quick: bool) -> float:
    import tensorflow as tf

    data = LINEAR.pictures(64)
    with tempfile.TemporaryDirectory() as model_dir:
        estimator = _train(apis, model_dir, data)
        one = data[0][:1]

        def predict() -> None:
            predictions = estimator.predict(
                lambda: tf.data.Dataset.from_tensor_slices(one).batch(1)
            )
            assert len(list(predictions)) == 1

        return measure_milliseconds(predict, 3 if quick else 60)


BENCHMARKS = (
    Benchmark(
        "keras_predict_rows",
        "predict: 98,304 rows from 8,192 pictures in memory, batch 256, linear Keras model",
        "rows/s",
        compare_apis(_measure_rows_per_second),
        goals={ORIGINAL: 4.0},
    ),
    Benchmark(
        "keras_predict_one",
        "predict: one example again, from_tensor_slices(one).batch(1), linear Keras model",
        "ms",
        compare_apis(_measure_one),
        less_is_better=True,
        goals={ORIGINAL: 8.0},
    ),
)
