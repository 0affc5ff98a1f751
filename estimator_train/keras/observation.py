"""Lets a hook observe the Keras model that a model_fn trains, by an eager copy of it.

The graph of training holds both sides of the exchange. A `PreModelHook` calls `request_observation`
in its `before_model`. The model_fn of a Keras model then calls `publish`, and the hook reads the
result by `find_published_training`. A `ShadowModel` follows the training session.
"""

import contextlib
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import tensorflow as tf
import tf_keras

from estimator_train.keras.model_io import Structure

_Pair = tuple[tf.Variable, tf.Variable]
_Pairs = list[_Pair]
# Attributes of an optimizer that need only its learning rate and its count of updates.
_SCALARS = {"lr", "learning_rate", "_learning_rate", "iterations", "name"}
# Not strings: a saved graph includes the collections that strings name, and these hold Python
# objects.
_REQUESTS = ("estimator_train", "requested observation")
_PUBLISHED = ("estimator_train", "published training")


class TrainedModel(Protocol):
    """A model in the graph of training, of tf_keras or of Keras 3."""

    def make_eager(self) -> tf_keras.Model:
        """Builds a compiled eager copy with its own variables; call it in eager code."""

    def pair_weights(self, model: tf_keras.Model) -> _Pairs:
        """Pairs the graph's weights and slots with those of an eager copy."""

    def pair_scalars(self, model: tf_keras.Model) -> _Pairs:
        """Pairs the optimizer's learning rate and count of updates with those of an eager copy."""

    def list_parts(self, model: tf_keras.Model) -> list[Any]:
        """Returns the layers and weights of an eager copy, and its optimizer."""


@dataclasses.dataclass(frozen=True)
class ObservedTraining:
    """The training of a Keras model that hooks observe.

    Attributes:
      model: The model.
      logs: Scalar tensors by name: mean loss and metrics since the last reset.
      step_logs: The same values after a step, to fetch in that step's session call; None under a
        strategy.
      resets: Operations that reset the loss and metrics.
      strategy: The strategy that trains the model.
    """

    model: TrainedModel
    logs: Mapping[str, tf.Tensor]
    step_logs: Mapping[str, tf.Tensor] | None
    resets: Sequence[tf.Operation]
    strategy: tf.distribute.Strategy


def request_observation() -> None:
    """Asks the next model_fn of the default graph to call `publish`."""
    tf.compat.v1.add_to_collection(_REQUESTS, True)


def is_observation_requested() -> bool:
    """Returns whether a hook observes the training in the default graph."""
    return bool(tf.compat.v1.get_collection(_REQUESTS))


def find_published_training() -> ObservedTraining | None:
    """Returns the training that was published in the default graph, or None."""
    published = tf.compat.v1.get_collection(_PUBLISHED)
    return published[0] if published else None


def publish(
    model: TrainedModel,
    logs: Mapping[str, tf.Tensor],
    step_logs: Mapping[str, tf.Tensor] | None,
    variables: Iterable[tf.Variable],
) -> None:
    """Publishes a training to the hooks of the default graph.

    Args:
      model: The model.
      logs: As in `ObservedTraining`.
      step_logs: As in `ObservedTraining`.
      variables: The variables of the metrics in `logs`, which hooks reset.
    """
    strategy = tf.distribute.get_strategy()
    resets = [
        part.initializer
        for variable in variables
        for part in strategy.experimental_local_results(variable)
    ]
    training = ObservedTraining(model, logs, step_logs, resets, strategy)
    tf.compat.v1.add_to_collection(_PUBLISHED, training)


def make_tensor_specs(features: Structure) -> Structure:
    """Returns TensorSpecs of features, in their structure."""
    return tf.nest.map_structure(lambda t: tf.TensorSpec(t.shape, t.dtype), features)


def build_on_zeros(model: Any, features: Structure) -> None:
    """Makes the variables of an eager model by calling it on zeros; unknown sizes are 1.

    Args:
      model: A model of tf_keras or Keras 3.
      features: TensorSpecs of its features.
    """
    if model.built:
        return

    def make_zeros(spec: tf.TensorSpec) -> tf.Tensor:
        return tf.zeros([size or 1 for size in spec.shape], spec.dtype)

    model(tf.nest.map_structure(make_zeros, features))


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
        # With their identities: the parts live as long as the model.
        parts = [*training.model.list_parts(model), *self._all.list_eager()]
        self._parts = {id(part) for part in parts if part is not None}
        self.forget()

    def has_part(self, value: Any) -> bool:
        """Returns whether a value is a part of the model, or a list, set or dict with one."""
        held = value.values() if isinstance(value, dict) else value
        held = held if isinstance(value, (list, tuple, set, dict)) else [value]
        return any(id(part) in self._parts for part in held)

    @property
    def is_read(self) -> bool:
        """Whether the model was used since the training last changed its variables."""
        return self._read is not None

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

    def list_eager(self) -> list[tf.Variable]:
        """Returns the eager variables."""
        return [theirs for _, theirs in self._pairs]

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
        object.__setattr__(self, "_optimizer", _LiveOptimizer(shadow))

    def __getattr__(self, name: str) -> Any:
        if name == "optimizer":
            return None if self._shadow.model.optimizer is None else self._optimizer
        if name != "stop_training":
            self._shadow.read(scalars_only=False)
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


class _LiveOptimizer:
    """The `model.optimizer` of callbacks: reads the slots only if a callback may use them.

    A callback that logs the learning rate after every step should not copy all variables.

    Args:
      shadow: The shadow model.
    """

    def __init__(self, shadow: ShadowModel) -> None:
        object.__setattr__(self, "_shadow", shadow)

    def __getattr__(self, name: str) -> Any:
        self._shadow.read(scalars_only=name in _SCALARS)
        return getattr(self._shadow.model.optimizer, name)

    def __setattr__(self, name: str, value: object) -> None:
        self._shadow.read(scalars_only=name in _SCALARS)
        setattr(self._shadow.model.optimizer, name, value)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The optimizer's class, for callbacks that call isinstance."""
        return type(self._shadow.model.optimizer)


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
