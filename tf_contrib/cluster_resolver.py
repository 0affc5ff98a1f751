"""Stand-in for `tf.contrib.cluster_resolver`: today's resolvers under their old names."""

from collections.abc import Sequence
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
    """Resolver without a TPU, for scripts that create one on machines without TPUs too."""

    def cluster_spec(self) -> tf.train.ClusterSpec:
        """Returns a cluster without tasks."""
        return tf.train.ClusterSpec({})

    def master(self, *unused: Any, **unused_too: Any) -> str:
        """Returns the address of this process."""
        return ""

    def get_master(self) -> str:
        """Returns the address of this process."""
        return ""

    def num_accelerators(self, *unused: Any, **unused_too: Any) -> dict[str, int]:
        """Returns a count of 0 TPU cores."""
        return {"TPU": 0}


def TPUClusterResolver(
    tpu: str | Sequence[str] | None = None, *args: Any, **kwargs: Any
) -> tf.distribute.cluster_resolver.ClusterResolver:  # noqa: N802
    """Returns the resolver of a TPU, or a `NoTPU` if `tpu` names none.

    Arguments are those of `tf.distribute.cluster_resolver.TPUClusterResolver`.
    """
    if not tpu or not tpu[0]:
        return NoTPU()
    return _resolvers.TPUClusterResolver(tpu, *args, **kwargs)
