"""Everything the engine needs to know of one Estimator."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.engine.checkpoints.warm_start import WarmStartSettings
from estimator_train.engine.comparison import have_equal_values
from estimator_train.engine.model_cache import ModelCache
from estimator_train.run_config import RunConfig
from estimator_train.run_config.topology import Topology


@dataclasses.dataclass(frozen=True)
class EstimatorContext:
    """One Estimator in one call of train, evaluate, predict or export.

    Attributes:
      model_fn: The user's model_fn.
      call_model_fn: The Estimator's `_call_model_fn`, for (features, labels, mode, config).
      call_input_fn: Its `_call_input_fn`, for (input_fn, mode) and optionally input_context.
      create_global_step: Its `_create_and_assert_global_step`, for a graph.
      sources: The functions that decide how a model is built.
      params: Hyper-parameters passed to model_fn and input_fns; an empty dict by default.
      config: The RunConfig, with its `model_dir` and `session_config` filled in.
      model_dir: The directory of checkpoints and event files.
      topology: How this process trains: alone, or with others.
      session_config: The configuration of sessions that run in this process.
      warm_start: The source of the variables' first values, or None.
      open_models: The models that stay open between calls.
      examples_per_step: Number of examples in a step, for the summary `examples/sec`; None: there
        is no such summary.
    """

    model_fn: Callable[..., Any]
    call_model_fn: Callable[[Any, Any, str, RunConfig], Any]
    call_input_fn: Callable[..., Any]
    create_global_step: Callable[[tf.Graph], tf.Variable]
    sources: tuple[Callable[..., Any], ...]
    params: Any
    config: RunConfig
    model_dir: str
    topology: Topology
    session_config: tf.compat.v1.ConfigProto
    warm_start: WarmStartSettings | None
    open_models: ModelCache[Any]
    examples_per_step: int | None = None

    def builds_same_model(self, other: EstimatorContext) -> bool:
        """Returns whether a model that was built for `other` can answer a call of this one."""
        return (
            self.sources == other.sources
            and self.session_config == other.session_config
            and self.warm_start == other.warm_start
            and have_equal_values(self.params, other.params)
            and have_equal_values(vars(self.config), vars(other.config))
        )
