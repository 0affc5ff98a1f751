"""How a hook gets to see the Keras model that is trained.

The graph of training carries the messages. A `PlacedHook` calls `request_observation` in its
`before_model`. The model_fn of a Keras model then calls `offer_observation`, and the hook finds
what it offered in `observed_training`.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from estimator_train.keras.callbacks.observed_model import ObservedModel

# No strings: a graph is saved with collections of that kind, and these hold Python objects.
_REQUESTS = ("estimator_train", "requested observation")
_OFFERS = ("estimator_train", "observed training")


@dataclasses.dataclass(frozen=True)
class ObservedTraining:
    """The training of a Keras model.

    Attributes:
      model: The model.
      logs: Scalar tensors by name: mean loss and metrics since the last reset.
      step_logs: The same, to be fetched in the session run of a step, with that step counted in;
        None under a strategy.
      resets: Operations that reset the loss and metrics.
      strategy: The strategy that it is trained under.
    """

    model: "ObservedModel"
    logs: Mapping[str, tf.Tensor]
    step_logs: Mapping[str, tf.Tensor] | None
    resets: Sequence[tf.Operation]
    strategy: tf.distribute.Strategy


def request_observation() -> None:
    """Has the next model_fn of the default graph call `offer_observation`."""
    tf.compat.v1.add_to_collection(_REQUESTS, True)


def observation_is_requested() -> bool:
    """Whether a hook is to observe the training in the default graph."""
    return bool(tf.compat.v1.get_collection(_REQUESTS))


def offer_observation(training: ObservedTraining) -> None:
    """Lets hooks of the default graph observe a training; of several replicas the first counts."""
    if not tf.compat.v1.get_collection(_OFFERS):
        tf.compat.v1.add_to_collection(_OFFERS, training)


def observed_training() -> ObservedTraining | None:
    """The training that is observed in the default graph, or None."""
    offers = tf.compat.v1.get_collection(_OFFERS)
    return offers[0] if offers else None
