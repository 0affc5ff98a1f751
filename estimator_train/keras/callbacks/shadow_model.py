"""An eager Keras model that is kept in step with the variables of a training session."""

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.keras.callbacks.observation import Watched

_Pair = tuple[tf.Variable, tf.Variable]


class Twin:
    """An eager model whose variables are those of a session, read when they are asked for.

    It is made in the graph of the session, before that is final.

    Args:
      found: The model in training.
      model: The eager model, built.
    """

    def __init__(self, found: Watched, model: Any) -> None:
        self.model = model
        scalars = found.training.scalars(model)
        self._scalars = _Part(scalars, found.strategy)
        self._all = _Part([*found.training.pairs(model), *scalars], found.strategy)
        self.forget()

    def forget(self) -> None:
        """Notes that the session's variables have changed."""
        self._read: _Part | None = None

    def read(self, session: tf.compat.v1.Session, *, scalars_only: bool = False) -> None:
        """Gives the eager model the session's values, unless it has them.

        Args:
          session: The raw session.
          scalars_only: Whether the learning rate and the count of updates are enough.
        """
        if self._read is self._all or (scalars_only and self._read):
            return
        if self._read:
            self.write(session)  # What was set since is not to be lost.
        self._read = self._scalars if scalars_only else self._all
        self._read.read(session)

    def write(self, session: tf.compat.v1.Session) -> list[str]:
        """Gives the session what was set in the eager model since it was read.

        Returns:
          The names of the variables that were set.
        """
        return self._read.write(session) if self._read else []


class _Part:
    """Some of the variables, with the operations that read and assign them."""

    def __init__(self, pairs: Sequence[_Pair], strategy: Any) -> None:
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
    """What callbacks have as their model: the twin, brought up to date when it is used.

    Args:
      twin: The twin.
    """

    def __init__(self, twin: Twin) -> None:
        object.__setattr__(self, "_twin", twin)
        object.__setattr__(self, "_session", None)

    def __getattr__(self, name: str) -> Any:
        twin, session = self._twin, self._session
        if session is not None and name != "stop_training":
            twin.read(session, scalars_only=name == "optimizer")
        return getattr(twin.model, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._twin.model, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the model."""
        return self.__getattr__("__call__")(*args, **kwargs)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The model's class, for callbacks that ask."""
        return type(self._twin.model)


def use_session(model: LiveModel, session: tf.compat.v1.Session | None) -> None:
    """Has a live model read from a session; from none at all where it is None."""
    object.__setattr__(model, "_session", session)
