"""`tf.contrib.learn.KMeansClustering`."""

from collections.abc import Callable, Iterator
from typing import Any

import estimator_train.compat.v1 as v1
from estimator_train.legacy.contrib.learn.estimators import Learning, configured

_KMeans = v1.experimental.KMeans


class KMeansClustering(Learning):
    """See `tf.compat.v1.estimator.experimental.KMeans`; keys and methods are those of 2017.

    Arguments are its; random_seed is its `seed`.
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
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
    ) -> None:
        config = configured(config)
        begin = (initial_clusters, distance_metric, random_seed)
        steps = (use_mini_batch, mini_batch_steps_per_iteration, kmeans_plus_plus_num_retries)
        today = _KMeans(num_clusters, model_dir, *begin, *steps, relative_tolerance, config)

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            spec = today.model_fn(features, labels, mode, config)
            predictions = {
                self.ALL_SCORES: spec.predictions[_KMeans.ALL_DISTANCES],
                self.CLUSTER_IDX: spec.predictions[_KMeans.CLUSTER_INDEX],
            }
            if not spec.eval_metric_ops:
                return spec._replace(predictions=predictions)
            metrics = {self.SCORES: spec.eval_metric_ops[_KMeans.SCORE]}
            return spec._replace(predictions=predictions, eval_metric_ops=metrics)

        super().__init__(model_fn, today.model_dir, config)

    def predict_cluster_idx(self, input_fn: Callable[[], Any] | None = None) -> Iterator[Any]:
        """Yields the number of each point's cluster."""
        for row in super().predict(input_fn=input_fn, outputs=[self.CLUSTER_IDX]):
            yield row[self.CLUSTER_IDX]

    def score(self, input_fn: Callable[[], Any] | None = None, steps: int | None = None) -> Any:
        """The sum of the distances of a batch's points to their clusters, a mean over batches."""
        return self.evaluate(input_fn=input_fn, steps=steps)[self.SCORES]

    def transform(
        self, input_fn: Callable[[], Any] | None = None, as_iterable: bool = False
    ) -> Any:
        """The distances of each point to all clusters; Euclidean ones are squared."""
        rows = (r[self.ALL_SCORES] for r in super().predict(input_fn=input_fn))
        return rows if as_iterable else list(rows)

    def clusters(self) -> Any:
        """The centers, float32 of shape [num_clusters, size]."""
        return self.get_variable_value(self.CLUSTERS)
