"""K-means clustering as an Estimator (v1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.canned.arguments import (
    Config,
    FeatureColumn,
    FeatureColumns,
    ModelDir,
)
from estimator_train.canned.column_kinds import validate_columns
from estimator_train.canned.columns import Batch
from estimator_train.canned.kmeans_steps import (
    Clusters,
    CountLastRunHook,
    FirstCenters,
    InitializeHook,
    StopAtToleranceHook,
)
from estimator_train.estimator import Estimator
from estimator_train.estimator_spec import EstimatorSpec, ModeKeys
from estimator_train.estimator_spec.export_outputs import PredictOutput
from estimator_train.heads.keys import FeatureTensors, Labels

_v1 = tf.compat.v1


class KMeansClustering(Estimator):
    """K-means clustering of points, on mini-batches or on all points together.

        kmeans = KMeans(num_clusters=5)
        kmeans.train(input_fn, steps=100)
        centers = kmeans.cluster_centers()

    Args:
      num_clusters: Number of clusters; an array of initial_clusters overrides it.
      model_dir: See `Estimator`.
      initial_clusters: "random": the points of the first batches, as many as are needed;
        "kmeans_plus_plus": chosen from one batch, which must have enough points; an array of
        shape [clusters, size]; or a function of a list of one tensor of points, [batch,
        size], and the number of centers still missing, a scalar int32 tensor; it returns up to
        that number of centers and runs until there are enough.
      distance_metric: "squared_euclidean" or "cosine".
      seed: Seed of the choice; that of "kmeans_plus_plus" is `RunConfig.tf_random_seed`.
      use_mini_batch: Whether a batch moves the centers towards its points. If False, each batch
        must hold all points, and the centers become the means of their points.
      mini_batch_steps_per_iteration: Number of batches after which the moved centers replace
        the centers to which points are assigned.
      kmeans_plus_plus_num_retries: Candidates for each center of "kmeans_plus_plus".
      relative_tolerance: Training stops where the loss changes by a smaller share than this;
        without mini batches only.
      config: See `Estimator`.
      feature_columns: Dense columns whose numbers are the points; by default all features.

    Raises:
      ValueError: initial_clusters or distance_metric is unknown, or num_clusters not positive
        where it counts.
    """

    SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
    COSINE_DISTANCE = "cosine"
    RANDOM_INIT = "random"
    KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
    SCORE = "score"
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = "clusters"

    def __init__(
        self,
        num_clusters: int,
        model_dir: ModelDir = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        seed: int | None = None,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Config = None,
        feature_columns: FeatureColumns | None = None,
    ) -> None:
        known = (self.RANDOM_INIT, self.KMEANS_PLUS_PLUS_INIT)
        if isinstance(initial_clusters, str) and initial_clusters not in known:
            raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}'")
        if distance_metric not in (self.SQUARED_EUCLIDEAN_DISTANCE, self.COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric '{distance_metric}'")
        chooses = isinstance(initial_clusters, str) or callable(initial_clusters)
        if chooses and num_clusters < 1:
            raise ValueError(f"num_clusters must be positive. Given: {num_clusters}")
        columns = validate_columns(feature_columns) if feature_columns else None

        def model_fn(features: FeatureTensors, labels: Labels, mode: str) -> EstimatorSpec:
            points = _concatenate_points(features, columns)
            clusters = Clusters(
                int(num_clusters) if chooses else len(initial_clusters),
                points,
                cosine=distance_metric == self.COSINE_DISTANCE,
                mini_batch=use_mini_batch,
                steps_per_iteration=int(mini_batch_steps_per_iteration),
            )
            choice = FirstCenters(
                initial_clusters, None if seed is None else int(seed), kmeans_plus_plus_num_retries
            )
            return _make_spec(
                clusters, choice, mode, None if use_mini_batch else relative_tolerance
            )

        super().__init__(model_fn, model_dir, config)
        self._is_squared = distance_metric == self.SQUARED_EUCLIDEAN_DISTANCE

    def score(self, input_fn: Callable[..., Any]) -> float:
        """Returns the sum of the distances of the first batch's points to their clusters."""
        return self.evaluate(input_fn, steps=1)[self.SCORE]

    def predict_cluster_index(self, input_fn: Callable[..., Any]) -> Any:
        """Yields the number of each point's cluster."""
        for row in self.predict(input_fn, predict_keys=self.CLUSTER_INDEX):
            yield row[self.CLUSTER_INDEX]

    def transform(self, input_fn: Callable[..., Any]) -> Any:
        """Yields the distances of each point to all clusters; Euclidean ones are not squared."""
        for row in self.predict(input_fn, predict_keys=self.ALL_DISTANCES):
            distances = row[self.ALL_DISTANCES]
            # Rounding leaves a squared distance of zero a little below zero.
            yield np.sqrt(np.maximum(distances, 0)) if self._is_squared else distances

    def cluster_centers(self) -> Any:
        """Returns the centers, float32 of shape [num_clusters, size]."""
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)


def _concatenate_points(
    features: FeatureTensors, columns: Sequence[FeatureColumn] | None
) -> tf.Tensor:
    """Returns the points of a batch, float32 of shape [batch, size]."""
    if columns is not None:
        return Batch(features).dense(columns)
    if not isinstance(features, Mapping):
        features = {"points": features}
    parts = [tf.cast(features[name], tf.float32) for name in sorted(features)]
    return tf.concat([part[:, None] if part.shape.rank == 1 else part for part in parts], axis=1)


def _make_spec(
    clusters: Clusters, choice: FirstCenters, mode: str, tolerance: float | None
) -> EstimatorSpec:
    distances = clusters.compute_distances(training=mode == ModeKeys.TRAIN)
    predictions = {
        KMeansClustering.ALL_DISTANCES: distances.all,
        KMeansClustering.CLUSTER_INDEX: distances.index,
    }
    # tf.estimator 2.15 makes loss, summary and metric in every mode.
    loss = tf.reduce_sum(distances.nearest)
    _v1.summary.scalar("loss/raw", loss)
    metrics = {KMeansClustering.SCORE: _v1.metrics.mean(loss)}
    if mode == ModeKeys.PREDICT:
        outputs: dict[str, Any] = {
            name: PredictOutput(tensor) for name, tensor in predictions.items()
        }
        default = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
        outputs[default] = outputs[KMeansClustering.CLUSTER_INDEX]
        return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
    if mode == ModeKeys.EVAL:
        return EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=metrics)
    hooks: list[Any] = [InitializeHook(clusters, choice), CountLastRunHook(clusters.build_last_run)]
    if tolerance is not None:
        hooks.append(StopAtToleranceHook(loss, tolerance))
    return EstimatorSpec(
        mode,
        predictions=predictions,
        loss=loss,
        train_op=clusters.build_train_op(distances.index),
        training_hooks=hooks,
    )
