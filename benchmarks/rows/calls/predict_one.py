"""Predictions of one example by `Estimator.predict`, with a new lambda in each call."""

import tempfile

from benchmarks.apis import Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.linear_model import make_rows, train_linear
from benchmarks.meters import measure_milliseconds


def measure_call(apis: Apis, quick: bool) -> float:
    """Returns the median milliseconds of a call."""
    import tensorflow as tf

    with tempfile.TemporaryDirectory() as model_dir:
        estimator = train_linear(apis.estimator, model_dir)
        example = make_rows(1)

        def predict() -> None:
            predictions = estimator.predict(lambda: tf.data.Dataset.from_tensors({"x": example}))
            next(predictions)
            predictions.close()

        return measure_milliseconds(predict, 3 if quick else 60)


BENCHMARK = Benchmark(
    "predict_one",
    "predict: one example, called again with a new lambda, linear model",
    "ms",
    compare_apis(measure_call),
    less_is_better=True,
    goals={ORIGINAL: 8.0},
)
