"""Stand-in for `tf.contrib.cloud`; TensorFlow reads the settings of Google Cloud Storage itself."""

import tensorflow as tf

from tf_contrib._types import Session

__all__ = ["BlockCacheParams", "ConfigureGcsHook", "configure_gcs"]


class BlockCacheParams:
    """Sizes of the block cache, which are stored but have no effect."""

    def __init__(
        self,
        block_size: int | None = None,
        max_bytes: int | None = None,
        max_staleness: int | None = None,
    ):
        self.block_size = block_size
        self.max_bytes = max_bytes
        self.max_staleness = max_staleness


class ConfigureGcsHook(tf.compat.v1.train.SessionRunHook):
    """Hook without effect: credentials come from the environment."""

    def __init__(self, credentials: object = None, block_cache: object = None) -> None:
        del credentials, block_cache


def configure_gcs(
    session: Session,
    credentials: object = None,
    block_cache: object = None,
    device: str | None = None,
) -> None:
    """Does nothing: credentials come from the environment."""
