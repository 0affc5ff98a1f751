"""Partitioning of the variables of v1 models over parameter servers."""

from __future__ import annotations

import dataclasses
from typing import Any

import tensorflow as tf

from estimator_train.canned.parts.argument_types import Partitioner
from estimator_train.canned.parts.models import Deep, Linear
from estimator_train.run_config import RunConfig

_WIDE_SLICE_BYTES = 64 << 20


def spread(part: Any, given: Partitioner | None, config: RunConfig) -> Any:
    """Returns a part of a model with its variables spread over the config's parameter servers.

    Args:
      part: The part.
      given: The partitioner of weights and embeddings of columns; by default slices have
        64 MiB or more. Slices of hidden layers have 256 KiB or more.
      config: The RunConfig.
    """
    servers = max(1, config.num_ps_replicas)
    make = tf.compat.v1.min_max_variable_partitioner
    columns = given or make(max_partitions=servers, min_slice_size=_WIDE_SLICE_BYTES)
    if isinstance(part, Linear):
        return dataclasses.replace(part, partitioner=columns)
    if isinstance(part, Deep):
        layers = make(max_partitions=servers)
        return dataclasses.replace(part, input_partitioner=columns, hidden_partitioner=layers)
    return part
