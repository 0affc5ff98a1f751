"""What the engine runs: a model_fn with its params, configuration and directory."""

import dataclasses
from collections.abc import Callable
from typing import Any

from estimator_train.engine.checkpoints.integrity import latest_checkpoint
from estimator_train.engine.checkpoints.warm_start import WarmStartSettings
from estimator_train.engine.model_cache import ModelCache
from estimator_train.run_config import RunConfig


@dataclasses.dataclass(frozen=True)
class EstimatorContext:
    """One estimator, as the engine sees it.

    Attributes:
      model_fn: The user's model_fn.
      params: Hyper-parameters handed to model_fn and input_fn; a dict, empty where none were given.
      config: The RunConfig, its `model_dir` and `session_config` filled in.
      warm_start: Where variables take their first values from, or None.
      kept: The models that stay open between calls.
    """

    model_fn: Callable[..., Any]
    params: Any
    config: RunConfig
    warm_start: WarmStartSettings | None
    kept: ModelCache[Any]

    @property
    def model_dir(self) -> str:
        """The directory of checkpoints and event files."""
        return self.config.model_dir

    def latest_checkpoint(self) -> str | None:
        """Returns the path prefix of the newest checkpoint in model_dir that is good, or None.

        Raises:
          ValueError: There are checkpoints, and none can be read.
        """
        return latest_checkpoint(self.model_dir)
