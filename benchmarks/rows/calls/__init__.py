"""Benchmarks of trained models: predictions and evaluations."""

from benchmarks.rows.calls import (
    boosted_trees_predict,
    evaluation,
    predict_one,
    predict_rows,
    predictor,
)

BENCHMARKS = (
    predict_one.BENCHMARK,
    predictor.BENCHMARK,
    predict_rows.BENCHMARK,
    boosted_trees_predict.BENCHMARK,
    evaluation.BENCHMARK,
)
