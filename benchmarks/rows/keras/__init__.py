"""Benchmarks of typical jobs: Keras models as Estimators, with arrays in memory."""

from benchmarks.rows.keras import calls, evaluation, start, training, tutorial

BENCHMARKS = (
    *training.BENCHMARKS,
    *tutorial.BENCHMARKS,
    *calls.BENCHMARKS,
    evaluation.BENCHMARK,
    start.BENCHMARK,
)
