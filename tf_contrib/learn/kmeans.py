"""Stand-in for `tf.contrib.learn.KMeansClustering`."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train.compat.v1 as v1
from tf_contrib._types import Features, TensorLike
from tf_contrib.learn.estimators import LearnEstimator, apply_tf_config

_KMeans = v1.experimental.KMeans


class KMeansClustering(LearnEstimator):
    """K-means estimator with the prediction keys and methods of 2017.

    The arguments are those of `tf.compat.v1.estimator.experimental.KMeans`; random_seed is its
    `seed`.
    """

    SQUARED_EUCLIDEAN_DISTANCE = _KMeans.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = _KMeans.COSINE_DISTANCE
    RANDOM_INIT = _KMeans.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = _KMeans.KMEANS_PLUS_PLUS_INIT
    SCORES = "scores"
    CLUSTER_IDX = "cluster_idx"
    CLUSTERS = "clusters"
    ALL_SCORES = "all_scores"
    LOSS_OP_NAME = "kmeans_loss"

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        initial_clusters: str | TensorLike | Callable[..., tf.Tensor] = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: v1.RunConfig | None = None,
    ) -> None:
        config = apply_tf_config(config)
        initialization = (initial_clusters, distance_metric, random_seed)
        steps = (use_mini_batch, mini_batch_steps_per_iteration, kmeans_plus_plus_num_retries)
        kmeans = _KMeans(
            num_clusters, model_dir, *initialization, *steps, relative_tolerance, config
        )

        def model_fn(
            features: Features, labels: Features, mode: str, config: v1.RunConfig
        ) -> v1.EstimatorSpec:
            spec = kmeans.model_fn(features, labels, mode, config)
            predictions = {
                self.ALL_SCORES: spec.predictions[_KMeans.ALL_DISTANCES],
                self.CLUSTER_IDX: spec.predictions[_KMeans.CLUSTER_INDEX],
            }
            if not spec.eval_metric_ops:
                return spec._replace(predictions=predictions)
            metrics = {self.SCORES: spec.eval_metric_ops[_KMeans.SCORE]}
            return spec._replace(predictions=predictions, eval_metric_ops=metrics)

        super().__init__(model_fn, kmeans.model_dir, config)

    def predict_cluster_idx(self, input_fn: Callable[[], Any] | None = None) -> Iterator[Any]:
        """Yields the cluster index of each point."""
        for row in super().predict(input_fn=input_fn, outputs=[self.CLUSTER_IDX]):
            yield row[self.CLUSTER_IDX]

    def score(self, input_fn: Callable[[], Any] | None = None, steps: int | None = None) -> float:
        """Returns the sum of a batch's distances to the nearest centers, averaged over batches."""
        return self.evaluate(input_fn=input_fn, steps=steps)[self.SCORES]

    def transform(
        self, input_fn: Callable[[], Any] | None = None, as_iterable: bool = False
    ) -> Iterator[np.ndarray] | list[np.ndarray]:
        """Returns the distances of each point to all centers; Euclidean distances are squared."""
        rows = (r[self.ALL_SCORES] for r in super().predict(input_fn=input_fn))
        return rows if as_iterable else list(rows)

    def clusters(self) -> np.ndarray:
        """Returns the centers, float32 of shape [num_clusters, size]."""
        return self.get_variable_value(self.CLUSTERS)
