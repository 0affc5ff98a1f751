"""The ConvNet under MirroredStrategy with one device, and without a strategy."""

from functools import partial

from benchmarks.benchmark import OURS, Benchmark
from benchmarks.rows.training.convnet import MODEL
from benchmarks.training import estimators

_WITHOUT = "without a strategy"
BENCHMARK = Benchmark(
    "mirrored",
    "train: the ConvNet under MirroredStrategy with one device",
    "steps/s",
    {
        OURS: partial(estimators.train_ours, MODEL, mirrored=True),
        _WITHOUT: partial(estimators.train_ours, MODEL),
    },
    goals={_WITHOUT: 0.95},
)
