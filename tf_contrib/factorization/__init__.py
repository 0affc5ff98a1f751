"""Stand-in for `tf.contrib.factorization`: k-means, mixtures, matrix factorization."""

from typing import Any

import estimator_train.compat.v1 as v1
from tf_contrib.factorization.kmeans import KMeans
from tf_contrib.factorization.mixtures import GMM, gmm
from tf_contrib.factorization.wals import WALSMatrixFactorization

__all__ = [
    "COSINE_DISTANCE",
    "GMM",
    "KMEANS_PLUS_PLUS_INIT",
    "KMeans",
    "KMeansClustering",
    "RANDOM_INIT",
    "SQUARED_EUCLIDEAN_DISTANCE",
    "WALSMatrixFactorization",
    "gmm",
]


class KMeansClustering(v1.experimental.KMeans):
    """K-means estimator of `tf.compat.v1.estimator` that takes its seed as `random_seed`."""

    def __init__(self, *args: Any, random_seed: int | None = None, **kwargs: Any) -> None:
        if random_seed is not None:
            kwargs.setdefault("seed", random_seed)
        super().__init__(*args, **kwargs)


COSINE_DISTANCE = KMeansClustering.COSINE_DISTANCE
SQUARED_EUCLIDEAN_DISTANCE = KMeansClustering.SQUARED_EUCLIDEAN_DISTANCE
KMEANS_PLUS_PLUS_INIT = KMeansClustering.KMEANS_PLUS_PLUS_INIT
RANDOM_INIT = KMeansClustering.RANDOM_INIT
