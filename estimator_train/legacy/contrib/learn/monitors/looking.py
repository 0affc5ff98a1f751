"""Monitors that log, keep or judge values, and those that stop."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.legacy.contrib.learn.monitors.base import BaseMonitor, EveryN, name_of

_v1 = tf.compat.v1
_logged = _v1.logging.info


class StopAtStep(BaseMonitor):
    """Stops after some steps.

    Args:
      num_steps: Steps of this training.
      last_step: The step itself.

    Raises:
      ValueError: Not one of both.
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if (num_steps is None) == (last_step is None):
            raise ValueError("Give num_steps or last_step, one of the two.")
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
    """Logs tensors.

    Args:
      tensor_names: Their names, or a dict from what is logged to the names.
      every_n: See EveryN.
      first_n: See EveryN.
    """

    def __init__(self, tensor_names: Any, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        is_dict = isinstance(tensor_names, Mapping)
        self._names = tensor_names if is_dict else {name: name for name in tensor_names}

    def every_n_step_begin(self, step: int) -> Sequence[Any]:
        """See EveryN."""
        return list(self._names.values())

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """See EveryN."""
        parts = [f"{tag} = {outputs[name]}" for tag, name in self._names.items()]
        _logged("Step %d: %s", step, ", ".join(parts))
        return False


class LoggingTrainable(EveryN):
    """Logs the trainable variables.

    Args:
      scope: Of those below this scope alone.
      every_n: See EveryN.
      first_n: See EveryN.
    """

    def __init__(self, scope: str | None = None, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._scope = scope
        self._names: list[str] = []

    def every_n_step_begin(self, step: int) -> Sequence[Any]:
        """See EveryN."""
        self._names = [one.name for one in _v1.trainable_variables(self._scope)]
        return self._names

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """See EveryN."""
        _logged("Logging Trainable: %s", [f"{name} = {outputs[name]}" for name in self._names])
        return False


class CaptureVariable(EveryN):
    """Keeps values of a tensor.

    Args:
      var_name: The name of the tensor.
      every_n: See EveryN.
      first_n: See EveryN.
    """

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._name = var_name
        self._values: dict[int, Any] = {}

    @property
    def values(self) -> dict[int, Any]:
        """The values by their steps."""
        return self._values

    def every_n_step_begin(self, step: int) -> Sequence[Any]:
        """See EveryN."""
        return [self._name]

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """See EveryN."""
        self._values[step] = outputs[self._name]
        return False


class NanLoss(EveryN):
    """Ends training when the loss is no number.

    Args:
      loss_tensor: The loss.
      every_n_steps: See EveryN.
      fail_on_nan_loss: Ends it by NanLossDuringTrainingError, and not as if it was done.
    """

    def __init__(
        self, loss_tensor: Any, every_n_steps: int = 100, fail_on_nan_loss: bool = True
    ) -> None:
        super().__init__(every_n_steps)
        self._loss, self._fails = loss_tensor, fail_on_nan_loss

    def every_n_step_begin(self, step: int) -> Sequence[Any]:
        """See EveryN."""
        return [self._loss]

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """See EveryN."""
        (loss,) = (outputs[key] for key in (self._loss, name_of(self._loss)) if key in outputs)
        if not np.isnan(loss):
            return False
        if self._fails:
            raise _v1.train.NanLossDuringTrainingError
        _v1.logging.error("Model diverged with loss = NaN.")
        return True
