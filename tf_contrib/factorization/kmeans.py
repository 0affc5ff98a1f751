"""Graph of k-means of `tf.contrib.factorization`, for programs with their own sessions."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train.extension import KMeansClusters
from tf_contrib._types import TensorLike

_RANDOM, _PLUS_PLUS = "random", ("kmeans_plus_plus", "kmc2")
_METRICS = ("squared_euclidean", "cosine")


class KMeans:
    """K-means of the points that a session feeds or reads.

    Args:
      inputs: Points of shape [batch, size], or a list of such tensors.
      num_clusters: Number of clusters.
      initial_clusters: "random", "kmeans_plus_plus", "kmc2" (the same here), an array of shape
        [clusters, size], or a function of the list of points and the number of clusters.
      distance_metric: "squared_euclidean" or "cosine".
      use_mini_batch: Whether a batch moves the centers towards its points. If False, the centers
        become the means of their points.
      mini_batch_steps_per_iteration: Batches after which the moved centers replace the centers.
      random_seed: Seed of the choice of first centers.
      kmeans_plus_plus_num_retries: Candidates for each center of "kmeans_plus_plus".
      kmc2_chain_length: Unused.

    Raises:
      ValueError: initial_clusters or distance_metric is unknown.
    """

    def __init__(
        self,
        inputs: TensorLike | Sequence[TensorLike],
        num_clusters: int,
        initial_clusters: Any = _RANDOM,
        distance_metric: str = _METRICS[0],
        use_mini_batch: bool = False,
        mini_batch_steps_per_iteration: int = 1,
        random_seed: int = 0,
        kmeans_plus_plus_num_retries: int = 2,
        kmc2_chain_length: int = 200,
    ) -> None:
        del kmc2_chain_length
        if isinstance(initial_clusters, str) and initial_clusters not in (_RANDOM, *_PLUS_PLUS):
            raise ValueError(f"Unsupported initialization algorithm {initial_clusters!r}.")
        if distance_metric not in _METRICS:
            raise ValueError(f"Unsupported distance metric {distance_metric!r}.")
        self._inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        self._count, self._initial = num_clusters, initial_clusters
        self._is_cosine = distance_metric == "cosine"
        self._mini_batch = use_mini_batch
        self._steps_per_iteration = mini_batch_steps_per_iteration
        self._seed, self._retries = random_seed, kmeans_plus_plus_num_retries

    def training_graph(self) -> tuple[Any, ...]:
        """Builds the graph.

        Returns:
          Distances of the points from all centers, numbers of the nearest centers, and distances
          from these, each a tuple of one tensor for each input; whether there are first centers, a
          variable; the operation that chooses them; the operation of a step. Euclidean distances
          are squared.
        """
        clusters = KMeansClusters(
            self._count,
            tf.concat([tf.convert_to_tensor(one, tf.float32) for one in self._inputs], 0),
            cosine=self._is_cosine,
            mini_batch=self._mini_batch,
            steps_per_iteration=self._steps_per_iteration,
        )
        found = clusters.compute_distances(training=True)
        sizes = [tf.shape(one)[0] for one in self._inputs]
        outputs = [tuple(tf.split(one, sizes)) for one in (found.all, found.index, found.nearest)]
        init_op = self._build_init_op(clusters)
        return *outputs, clusters.initialized, init_op, clusters.move(found.index)

    def _build_init_op(self, clusters: KMeansClusters) -> tf.Tensor:
        """Builds the operation that chooses first centers unless there are some."""

        def choose() -> tf.Tensor:
            centers = self._choose(clusters.points)
            centers = tf.math.l2_normalize(centers, 1) if self._is_cosine else centers
            with tf.control_dependencies([clusters.assign(centers)]):
                return tf.constant(True)

        return tf.cond(clusters.initialized, lambda: tf.constant(True), choose)

    def _choose(self, points: tf.Tensor) -> tf.Tensor:
        if callable(self._initial):
            return tf.cast(self._initial(self._inputs, self._count), tf.float32)
        if not isinstance(self._initial, str):
            return tf.convert_to_tensor(self._initial, tf.float32)
        if self._initial == _RANDOM:
            order = tf.random.shuffle(tf.range(tf.shape(points)[0]), self._seed)
            return tf.gather(points, order[: self._count])
        return tf.raw_ops.KmeansPlusPlusInitialization(
            points=points,
            num_to_sample=self._count,
            seed=self._seed,
            num_retries_per_sample=self._retries,
        )
