"""`tf.contrib.cluster_resolver`: resolvers by their old place."""

from typing import Any

import tensorflow as tf

_resolvers = tf.distribute.cluster_resolver
__all__ = [
    "ClusterResolver",
    "GCEClusterResolver",
    "KubernetesClusterResolver",
    "SimpleClusterResolver",
    "SlurmClusterResolver",
    "TFConfigClusterResolver",
    "TPUClusterResolver",
    "UnionClusterResolver",
]

ClusterResolver = _resolvers.ClusterResolver
GceClusterResolver = GCEClusterResolver = _resolvers.GCEClusterResolver
KubernetesClusterResolver = _resolvers.KubernetesClusterResolver
SimpleClusterResolver = _resolvers.SimpleClusterResolver
SlurmClusterResolver = _resolvers.SlurmClusterResolver
TFConfigClusterResolver = _resolvers.TFConfigClusterResolver
UnionClusterResolver = _resolvers.UnionResolver


class NoTPU(tf.distribute.cluster_resolver.ClusterResolver):
    """A resolver that finds no TPU: scripts build one also where they then run without."""

    def cluster_spec(self) -> Any:
        """A cluster without tasks."""
        return tf.train.ClusterSpec({})

    def master(self, *unused: Any, **unused_too: Any) -> str:
        """The address of this process."""
        return ""

    def get_master(self) -> str:
        """The address of this process."""
        return ""

    def num_accelerators(self, *unused: Any, **unused_too: Any) -> dict[str, int]:
        """No cores."""
        return {"TPU": 0}


def TPUClusterResolver(tpu: Any = None, *args: Any, **kwargs: Any) -> Any:  # noqa: N802
    """The resolver of a TPU, or one that finds none where no TPU is named.

    Arguments are those of `tf.distribute.cluster_resolver.TPUClusterResolver`.
    """
    if not tpu or not tpu[0]:
        return NoTPU()
    return _resolvers.TPUClusterResolver(tpu, *args, **kwargs)
