"""The benchmarks, one file each; a new one is added to the list here."""

from benchmarks.benchmark import Benchmark
from benchmarks.rows import (
    convnet,
    evaluation,
    linear,
    memory,
    mirrored,
    mlp,
    predict_one,
    predict_rows,
    predictor,
    saving,
    start,
)

_ROWS = (
    linear,
    mlp,
    convnet,
    mirrored,
    predict_one,
    predictor,
    predict_rows,
    evaluation,
    saving,
    start,
    memory,
)

BENCHMARKS: dict[str, Benchmark] = {row.BENCHMARK.name: row.BENCHMARK for row in _ROWS}
