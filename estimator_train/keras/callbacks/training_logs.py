"""Logs for callbacks: of a Keras model in training, or of the loss of another model_fn.

Both classes have `fetches`, the tensors to fetch in the session call of each step that hooks see.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.keras.callbacks.observed_model import ObservedTraining


class KerasLogs:
    """Mean loss and metrics of a Keras model, which the graph computes.

    Args:
      training: The model in training.
      each_batch: Whether logs are needed after every step.
    """

    def __init__(self, training: ObservedTraining, each_batch: bool) -> None:
        self._training = training
        self._each_batch = each_batch
        step_logs = training.step_logs if each_batch else None
        self._names = list(step_logs or ())
        self.fetches = list((step_logs or {}).values())

    def read_batch_logs(
        self, session: tf.compat.v1.Session, fetched: Sequence[Any]
    ) -> dict[str, Any]:
        """Returns the logs after a step: fetched with it, or under a strategy read now."""
        if not self._each_batch:
            return {}
        if not self._names:
            return self.read_epoch_logs(session)
        return {name: _as_python(value) for name, value in zip(self._names, fetched, strict=True)}

    def read_epoch_logs(self, session: tf.compat.v1.Session) -> dict[str, Any]:
        """Returns the logs of all steps since the last reset."""
        values = session.run(dict(self._training.logs))
        return {name: _as_python(value) for name, value in values.items()}

    def reset(self, session: tf.compat.v1.Session) -> None:
        """Starts a new epoch."""
        session.run(list(self._training.resets))


class LossLogs:
    """Mean loss of an epoch's steps, for a model_fn without a Keras model."""

    def __init__(self) -> None:
        self.fetches = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.LOSSES)[-1:]
        self._losses: list[float] = []

    def read_batch_logs(
        self, session: tf.compat.v1.Session, fetched: Sequence[Any]
    ) -> dict[str, Any]:
        """Adds the loss of a step; returns the logs of the epoch so far."""
        self._losses += [float(loss) for loss in fetched]
        return self.read_epoch_logs(session)

    def read_epoch_logs(self, session: tf.compat.v1.Session) -> dict[str, Any]:
        """Returns the logs of all steps since the last reset; an empty dict without steps."""
        return {"loss": float(np.mean(self._losses))} if self._losses else {}

    def reset(self, session: tf.compat.v1.Session) -> None:
        """Starts a new epoch."""
        self._losses = []


def _as_python(value: np.ndarray | np.generic) -> Any:
    """Returns a scalar as a Python float, and other arrays unchanged."""
    return float(value) if np.ndim(value) == 0 else value
