"""`tf.contrib.factorization`: k-means."""

from typing import Any

import estimator_train.compat.v1 as v1

__all__ = [
    "COSINE_DISTANCE",
    "KMEANS_PLUS_PLUS_INIT",
    "KMeansClustering",
    "RANDOM_INIT",
    "SQUARED_EUCLIDEAN_DISTANCE",
]


class KMeansClustering(v1.experimental.KMeans):
    """See `tf.compat.v1.estimator.experimental.KMeans`, whose seed is random_seed here."""

    def __init__(self, *args: Any, random_seed: int | None = None, **kwargs: Any) -> None:
        given: dict[str, Any] = {} if random_seed is None else {"seed": random_seed}
        super().__init__(*args, **given | kwargs)


COSINE_DISTANCE = KMeansClustering.COSINE_DISTANCE
SQUARED_EUCLIDEAN_DISTANCE = KMeansClustering.SQUARED_EUCLIDEAN_DISTANCE
KMEANS_PLUS_PLUS_INIT = KMeansClustering.KMEANS_PLUS_PLUS_INIT
RANDOM_INIT = KMeansClustering.RANDOM_INIT
