"""`tf.contrib.cloud`: settings of Google Cloud Storage, which TensorFlow finds by itself."""

from typing import Any

import tensorflow as tf

__all__ = ["BlockCacheParams", "ConfigureGcsHook", "configure_gcs"]


class BlockCacheParams:
    """Sizes of a cache of blocks; kept, and without effect."""

    def __init__(self, block_size: Any = None, max_bytes: Any = None, max_staleness: Any = None):
        self.block_size = block_size
        self.max_bytes = max_bytes
        self.max_staleness = max_staleness


class ConfigureGcsHook(tf.compat.v1.train.SessionRunHook):
    """Does nothing: credentials come from the environment."""

    def __init__(self, credentials: Any = None, block_cache: Any = None) -> None:
        del credentials, block_cache


def configure_gcs(
    session: Any, credentials: Any = None, block_cache: Any = None, device: Any = None
) -> None:
    """Does nothing: credentials come from the environment."""
