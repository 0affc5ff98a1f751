"""Two optimizers for the two parts of a wide-and-deep Keras model."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train.optimizers.base import (
    SCOPE,
    GraphOptimizer,
    TrainStep,
    compute_gated_gradients,
)


class TrainedPair(tf.Module):
    """The two optimizers in a graph, which checkpoints save.

    Attributes:
      linear: Optimizer of the linear part.
      deep: Optimizer of the deep part.
    """

    def __init__(self, linear: Any, deep: Any) -> None:
        super().__init__()
        self.linear, self.deep = linear, deep


class OptimizerPair:
    """Optimizers of a linear part and of a deep one.

    Attributes:
      scales_loss: Whether they divide the loss by the number of replicas; always False.

    Args:
      linear: Optimizer of the linear part.
      deep: Optimizer of the deep part, which counts the steps.

    Raises:
      ValueError: An optimizer scales losses.
    """

    scales_loss = False

    def __init__(self, linear: GraphOptimizer, deep: GraphOptimizer) -> None:
        if linear.scales_gradients or deep.scales_gradients:
            raise ValueError("A LossScaleOptimizer cannot be one of the two optimizers of a model.")
        self._linear, self._deep = linear, deep
        deep.scope = f"{SCOPE}/"  # Both optimizers use one scope.

    def minimize(
        self,
        loss: tf.Tensor,
        linear_variables: Sequence[tf.Variable],
        deep_variables: Sequence[tf.Variable],
        global_step: tf.Variable,
    ) -> TrainStep:
        """Builds a training step in the default graph.

        Args:
          loss: A scalar.
          linear_variables: Variables of the linear part.
          deep_variables: Variables of the deep part.
          global_step: Counts the steps, an int64 scalar.
        """
        both = [*linear_variables, *deep_variables]
        # No variable changes before all gradients are computed from the old values.
        gradients = tf.tuple(list(compute_gated_gradients(loss, both)))
        wide = len(linear_variables)
        # The linear optimizer needs its own count of steps.
        count = tf.compat.v1.Variable(
            lambda: global_step.read_value(),
            trainable=False,
            name=f"{SCOPE}/linear_steps",
            collections=[tf.compat.v1.GraphKeys.LOCAL_VARIABLES],
        )
        linear = self._linear.minimize(loss, linear_variables, count, gradients[:wide])
        deep = self._deep.minimize(loss, deep_variables, global_step, gradients[wide:])
        pair = TrainedPair(linear.trackable, deep.trackable)
        return TrainStep(tf.group(linear.operation, deep.operation), pair)


def list_optimizers(model: Any, optimizer: Any) -> list[tuple[Any, list[tf.Variable]]]:
    """Returns each optimizer of a model with the variables that it trains.

    Args:
      model: A tf_keras Model; a WideDeepModel for two optimizers.
      optimizer: The model's optimizer, a sequence of those of its linear and its deep part, or a
        TrainedPair of them. The last optimizer counts the model's steps.
    """
    if isinstance(optimizer, TrainedPair):
        optimizer = (optimizer.linear, optimizer.deep)
    if not isinstance(optimizer, (list, tuple)):
        return [(optimizer, list(model.trainable_weights))]
    parts = (model.linear_model, model.dnn_model)
    return [(one, list(part.trainable_weights)) for one, part in zip(optimizer, parts, strict=True)]
