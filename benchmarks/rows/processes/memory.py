"""Peak memory of training."""

import tempfile

from benchmarks.apis import Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.meters import read_peak_memory
from benchmarks.rows.training.convnet import MODEL


def _measure_peak(apis: Apis, quick: bool) -> float:
    api, keras = apis.estimator, apis.keras
    with tempfile.TemporaryDirectory() as model_dir:
        config = api.RunConfig(model_dir)
        estimator = keras.estimator.model_to_estimator(MODEL.keras_model(keras), config=config)
        estimator.train(MODEL.dataset, steps=2 if quick else 150)
    return read_peak_memory()


BENCHMARK = Benchmark(
    "memory",
    "memory at its peak: training the ConvNet",
    "MB",
    compare_apis(_measure_peak),
    less_is_better=True,
    goals={ORIGINAL: 0.91},
)
