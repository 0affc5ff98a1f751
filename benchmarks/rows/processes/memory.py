"""The most memory that training takes."""

import resource
import tempfile

from benchmarks.apis import Apis, both
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.rows.training.convnet import MODEL


def _peak(apis: Apis, quick: bool) -> float:
    """Megabytes of the process at its largest."""
    api, keras = apis.estimator, apis.keras
    with tempfile.TemporaryDirectory() as model_dir:
        config = api.RunConfig(model_dir)
        estimator = keras.estimator.model_to_estimator(MODEL.keras_model(keras), config=config)
        estimator.train(MODEL.dataset, steps=2 if quick else 150)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


BENCHMARK = Benchmark(
    "memory",
    "memory at its peak: training the ConvNet",
    "MB",
    both(_peak),
    less_is_better=True,
    goals={ORIGINAL: 0.91},
)
