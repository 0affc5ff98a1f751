"""Monitors that log or store values, or stop training."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tf_contrib.learn.monitors.base import BaseMonitor, EveryN, get_name

_v1 = tf.compat.v1
_log = _v1.logging.info


class StopAtStep(BaseMonitor):
    """Monitor that stops training after some steps.

    Args:
      num_steps: Number of steps of this training.
      last_step: Global step at which to stop.

    Raises:
      ValueError: Not exactly one of num_steps and last_step is given.
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if (num_steps is None) == (last_step is None):
            raise ValueError("Give exactly one of num_steps and last_step.")
        self._steps, self._last = num_steps, last_step

    def step_begin(self, step: int) -> Sequence[Any]:
        """See BaseMonitor."""
        if self._last is None and self._steps is not None:
            self._last = step + self._steps - 1
        return []

    def step_end(self, step: int, output: Mapping[str, Any]) -> bool:
        """See BaseMonitor."""
        del output
        return self._last is not None and step >= self._last


class PrintTensor(EveryN):
    """Monitor that logs tensors.

    Args:
      tensor_names: Names of tensors, or a dict of tags to names.
      every_n: Steps between observations.
      first_n: Number of first steps to observe.
    """

    def __init__(
        self, tensor_names: Sequence[str] | Mapping[str, str], every_n: int = 100, first_n: int = 1
    ) -> None:
        super().__init__(every_n, first_n)
        is_mapping = isinstance(tensor_names, Mapping)
        self._names: Any = tensor_names if is_mapping else {name: name for name in tensor_names}

    def every_n_step_begin(self, step: int) -> Sequence[Any]:
        """See EveryN."""
        return list(self._names.values())

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """See EveryN."""
        parts = [f"{tag} = {outputs[name]}" for tag, name in self._names.items()]
        _log("Step %d: %s", step, ", ".join(parts))
        return False


class LoggingTrainable(EveryN):
    """Monitor that logs the trainable variables.

    Args:
      scope: Scope of the variables; by default all.
      every_n: Steps between observations.
      first_n: Number of first steps to observe.
    """

    def __init__(self, scope: str | None = None, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._scope = scope
        self._names: list[str] = []

    def every_n_step_begin(self, step: int) -> Sequence[Any]:
        """See EveryN."""
        self._names = [variable.name for variable in _v1.trainable_variables(self._scope)]
        return self._names

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """See EveryN."""
        _log("Logging Trainable: %s", [f"{name} = {outputs[name]}" for name in self._names])
        return False


class CaptureVariable(EveryN):
    """Monitor that stores the values of a tensor.

    Args:
      var_name: Name of the tensor.
      every_n: Steps between observations.
      first_n: Number of first steps to observe.
    """

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._name = var_name
        self._values: dict[int, Any] = {}

    @property
    def values(self) -> dict[int, Any]:
        """Values by step."""
        return self._values

    def every_n_step_begin(self, step: int) -> Sequence[Any]:
        """See EveryN."""
        return [self._name]

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """See EveryN."""
        self._values[step] = outputs[self._name]
        return False


class NanLoss(EveryN):
    """Monitor that ends training if the loss is NaN.

    Args:
      loss_tensor: Loss.
      every_n_steps: Steps between observations.
      fail_on_nan_loss: Whether to raise NanLossDuringTrainingError instead of ending normally.
    """

    def __init__(
        self, loss_tensor: tf.Tensor | str, every_n_steps: int = 100, fail_on_nan_loss: bool = True
    ) -> None:
        super().__init__(every_n_steps)
        self._loss, self._fail_on_nan = loss_tensor, fail_on_nan_loss

    def every_n_step_begin(self, step: int) -> Sequence[Any]:
        """See EveryN."""
        return [self._loss]

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """See EveryN."""
        (loss,) = (outputs[key] for key in (self._loss, get_name(self._loss)) if key in outputs)
        if not np.isnan(loss):
            return False
        if self._fail_on_nan:
            raise _v1.train.NanLossDuringTrainingError
        _v1.logging.error("Model diverged with loss = NaN.")
        return True
