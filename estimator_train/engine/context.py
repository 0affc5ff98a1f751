"""What the engine runs: a model_fn with its params, configuration and directory."""

import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.engine.checkpoints.warm_start import WarmStartSettings
from estimator_train.engine.model_cache import ModelCache
from estimator_train.run_config import RunConfig
from estimator_train.run_config.topology import Topology


@dataclasses.dataclass(frozen=True)
class EstimatorContext:
    """One estimator, as the engine sees it.

    Attributes:
      model_fn: The user's model_fn.
      params: Hyper-parameters handed to model_fn and input_fns: a dict, empty without any.
      config: The RunConfig, its `model_dir` and `session_config` filled in.
      model_dir: The directory of checkpoints and event files.
      topology: How this process trains: alone, or with others.
      session_config: The configuration of sessions that run in this process.
      warm_start: Where variables take their first values from, or None.
      kept: The models that stay open between calls.
    """

    model_fn: Callable[..., Any]
    params: Any
    config: RunConfig
    model_dir: str
    topology: Topology
    session_config: tf.compat.v1.ConfigProto
    warm_start: WarmStartSettings | None
    kept: ModelCache[Any]
