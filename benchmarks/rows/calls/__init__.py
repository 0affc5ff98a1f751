"""Benchmarks of trained models: predictions and evaluations."""

from benchmarks.rows.calls import (
    boosted_trees_predict,
    evaluation,
    export_onnx_latency,
    predict_one,
    predict_rows,
    predictor,
)

BENCHMARKS = (
    predict_one.BENCHMARK,
    predictor.BENCHMARK,
    export_onnx_latency.BENCHMARK,
    predict_rows.BENCHMARK,
    boosted_trees_predict.BENCHMARK,
    evaluation.BENCHMARK,
)
