"""An eager Keras model whose variables follow those of a training session."""

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras

from estimator_train.keras.callbacks.observed_model import ObservedTraining

_Pair = tuple[tf.Variable, tf.Variable]


class ShadowModel:
    """Eager copy of a model in training, whose variables are read from the session when needed.

    Construct it in the graph of the session, before the graph is final.

    Args:
      training: The model in training.
      model: The eager model, built.

    Attributes:
      session: The raw session, without hooks, to read from; None leaves the model as it is.
    """

    session: tf.compat.v1.Session | None = None

    def __init__(self, training: ObservedTraining, model: tf_keras.Model) -> None:
        self.model = model
        scalars = training.model.pair_scalars(model)
        self._scalars = _SyncedVariables(scalars, training.strategy)
        self._all = _SyncedVariables(
            [*training.model.pair_weights(model), *scalars], training.strategy
        )
        self.forget()

    def forget(self) -> None:
        """Marks the copy as outdated: the next `read` reads the session's variables."""
        self._read: _SyncedVariables | None = None

    def read(self, *, scalars_only: bool) -> None:
        """Copies the session's values to the eager model, unless it is up to date.

        Args:
          scalars_only: Reads only the learning rate and the count of updates.
        """
        if self.session is None or self._read is self._all or (scalars_only and self._read):
            return
        self.write()  # Keeps the values that were set since the last read.
        self._read = self._scalars if scalars_only else self._all
        self._read.read(self.session)

    def write(self) -> list[str]:
        """Copies to the session the variables that were set since the last read.

        Returns:
          The names of the variables that were set.
        """
        return self._read.write(self.session) if self._read and self.session else []


class _SyncedVariables:
    """Pairs of graph and eager variables, with operations to read and assign those in the graph."""

    def __init__(self, pairs: Sequence[_Pair], strategy: tf.distribute.Strategy) -> None:
        self._pairs = list(pairs)
        is_default = strategy is tf.distribute.get_strategy()
        scope = contextlib.nullcontext() if is_default else strategy.scope()
        with scope, tf.name_scope("callbacks"):
            self._values = [tf.identity(tf.convert_to_tensor(ours)) for ours, _ in pairs]
            self._new = [tf.compat.v1.placeholder(v.dtype, v.shape) for v in self._values]
            self._assigns = [
                tf.group(*(part.assign(new) for part in strategy.experimental_local_results(ours)))
                for (ours, _), new in zip(pairs, self._new, strict=True)
            ]
        self._known: list[np.ndarray] = []

    def read(self, session: tf.compat.v1.Session) -> None:
        self._known = session.run(self._values)
        for (_, theirs), value in zip(self._pairs, self._known, strict=True):
            theirs.assign(value)

    def write(self, session: tf.compat.v1.Session) -> list[str]:
        assigns, feeds, names = [], {}, []
        for i, (_, theirs) in enumerate(self._pairs):
            value = theirs.numpy()
            if not np.array_equal(value, self._known[i], equal_nan=True):
                self._known[i] = value
                assigns.append(self._assigns[i])
                feeds[self._new[i]] = value
                names.append(theirs.name)
        if assigns:
            session.run(assigns, feeds)
        return names


class LiveModel:
    """The `model` of callbacks: reads the shadow model's variables when an attribute is used.

    It says that it is of the model's class, as callbacks ask by isinstance; the reads must happen
    at the attribute, so the shadow model itself cannot take its place.

    Args:
      shadow: The shadow model.
    """

    def __init__(self, shadow: ShadowModel) -> None:
        object.__setattr__(self, "_shadow", shadow)

    def __getattr__(self, name: str) -> Any:
        if name != "stop_training":
            self._shadow.read(scalars_only=name == "optimizer")
        return getattr(self._shadow.model, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._shadow.model, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the model."""
        return self.__getattr__("__call__")(*args, **kwargs)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The model's class, for callbacks that call isinstance."""
        return type(self._shadow.model)
