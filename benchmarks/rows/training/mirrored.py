"""The ConvNet under MirroredStrategy with one device, and without a strategy."""

from functools import partial

from benchmarks.apis import APIS
from benchmarks.benchmark import OURS, Benchmark
from benchmarks.rows.training.convnet import MODEL
from benchmarks.training.estimators import train_by_estimator

_WITHOUT = "without a strategy"
BENCHMARK = Benchmark(
    "mirrored",
    "train: the ConvNet under MirroredStrategy with one device",
    "steps/s",
    {
        OURS: partial(train_by_estimator, MODEL, APIS[OURS], mirrored=True),
        _WITHOUT: partial(train_by_estimator, MODEL, APIS[OURS]),
    },
    goals={_WITHOUT: 0.95},
)
