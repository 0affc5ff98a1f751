"""How a hook asks for a look at the Keras model that is trained, and how model_fns let it look.

A hook that wants it calls `ask_to_watch` in its `before_model` (see `PlacedHook`). The model_fn of a Keras model then calls `watch`, and the hook finds
what it left in `watched`.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import tensorflow as tf

# No strings: a graph is saved with collections of that kind, and these hold Python objects.
_WANTED = ("estimator_train", "watching is wanted")
_WATCHED = ("estimator_train", "watched")


class KerasTraining(Protocol):
    """A Keras model in a graph of training, and eager models like it."""

    def make_eager(self) -> Any:
        """Returns a compiled eager model with variables of its own; called in eager code."""

    def build_eager(self, model: Any) -> None:
        """Makes an eager model's variables, and those of its optimizer."""

    def pairs(self, model: Any) -> list[tuple[tf.Variable, tf.Variable]]:
        """The graph's variables, each with its counterpart in an eager model."""

    def scalars(self, model: Any) -> list[tuple[tf.Variable, tf.Variable]]:
        """The same for what optimizers have once: the learning rate and the count of updates."""


@dataclasses.dataclass(frozen=True)
class Watched:
    """A Keras model in training.

    Attributes:
      training: The model.
      logs: Scalar tensors by name: mean loss and metrics since the last reset.
      step_logs: The same for the run of a step, that step included; None under a strategy.
      resets: Operations that start these anew.
      strategy: The strategy that it is trained under.
    """

    training: KerasTraining
    logs: Mapping[str, tf.Tensor]
    step_logs: Mapping[str, tf.Tensor] | None
    resets: Sequence[tf.Operation]
    strategy: tf.distribute.Strategy


def ask_to_watch() -> None:
    """Has the next model_fn of the default graph call `watch`."""
    tf.compat.v1.add_to_collection(_WANTED, True)


def is_watched() -> bool:
    """Whether a hook asked to watch the training in the default graph."""
    return bool(tf.compat.v1.get_collection(_WANTED))


def watch(found: Watched) -> None:
    """Lets hooks of the default graph watch; of several replicas the first one counts."""
    if not tf.compat.v1.get_collection(_WATCHED):
        tf.compat.v1.add_to_collection(_WATCHED, found)


def watched() -> Watched | None:
    """What there is to watch in the default graph, or None."""
    found = tf.compat.v1.get_collection(_WATCHED)
    return found[0] if found else None
