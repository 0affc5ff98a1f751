"""Functions that a step in a loop calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorflow as tf
import tf_keras

import estimator_train as est


class SumOfBatches(tf_keras.metrics.Metric):
    """Mean of the batches' sums of labels; its count does not depend on the batch."""

    def __init__(self, name: str = "sum_of_batches", dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.total = self.add_weight(name="total", initializer="zeros")
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        self.total.assign_add(tf.reduce_sum(y_true))
        return self.count.assign_add(1.0)

    def result(self) -> Any:
        return self.total / self.count


def test_a_metric_counts_no_batch_after_the_end_of_the_input(tmp_path: Path) -> None:
    def model_fn(features: tf.Tensor, labels: tf.Tensor, mode: str) -> est.EstimatorSpec:
        metric = SumOfBatches()
        metric.update_state(labels, features)
        return est.EstimatorSpec(
            mode,
            loss=tf.reduce_mean(features),
            train_op=tf.compat.v1.train.get_global_step().assign_add(1),
            eval_metric_ops={"sum": metric} if mode == "eval" else None,
        )

    def input_fn() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices((tf.ones([16, 3]), tf.ones([16]))).batch(8)

    estimator = est.Estimator(model_fn, str(tmp_path))
    estimator.train(input_fn, steps=1)
    assert estimator.evaluate(input_fn)["sum"] == 8
