"""How v1 models spread their variables over parameter servers."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_WIDE_SLICE_BYTES = 64 << 20


def for_columns(config: Any) -> Any:
    """The partitioner of weights and embeddings of columns: slices of 64 MiB or more."""
    return tf.compat.v1.min_max_variable_partitioner(
        max_partitions=_servers(config), min_slice_size=_WIDE_SLICE_BYTES
    )


def for_layers(config: Any) -> Any:
    """The partitioner of hidden layers: slices of 256 KiB or more."""
    return tf.compat.v1.min_max_variable_partitioner(max_partitions=_servers(config))


def _servers(config: Any) -> int:
    return max(1, config.num_ps_replicas)
