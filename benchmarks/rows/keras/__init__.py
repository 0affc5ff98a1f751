"""What users do: Keras models as Estimators, arrays in memory, evaluations to the end of input."""

from benchmarks.rows.keras import calls, evaluation, start, training, tutorial

BENCHMARKS = (
    *training.BENCHMARKS,
    *tutorial.BENCHMARKS,
    *calls.BENCHMARKS,
    evaluation.BENCHMARK,
    start.BENCHMARK,
)
