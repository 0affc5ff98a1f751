"""Optimizers of a model's parts: two for a wide and deep model, or several by patterns of names."""

import re
from collections.abc import Mapping, Sequence
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


class SeveralOptimizers(GraphOptimizer):
    """Optimizers by patterns of variable names; the first pattern that matches decides.

    Args:
      optimizers: Regular expressions, matched from the start of a variable's name, to optimizers.

    Raises:
      ValueError: There are no optimizers, or an optimizer scales the loss.
    """

    def __init__(self, optimizers: Mapping[str, GraphOptimizer]) -> None:
        if not optimizers:
            raise ValueError(
                f"optimizer must name an optimizer for each pattern, got {optimizers}."
            )
        for pattern, optimizer in optimizers.items():
            if optimizer.scales_loss or optimizer.scales_gradients:
                raise ValueError(
                    f"The optimizer for '{pattern}' scales the loss, which one of several cannot "
                    "do. Use one optimizer, or bfloat16, which needs no loss scaling."
                )
        self._optimizers = dict(optimizers)

    def minimize(
        self,
        loss: tf.Tensor,
        variables: Sequence[tf.Variable],
        global_step: tf.Variable,
        gradients: Sequence[Any] | None = None,
    ) -> TrainStep:
        """Builds a training step in the default graph; see the base class.

        Raises:
          ValueError: A variable matches no pattern, or a pattern matches no variable.
        """
        if gradients is None:
            gradients = compute_gated_gradients(loss, variables)
        # No variable changes before all gradients are computed from the old values.
        gradients = tf.tuple(list(gradients))
        parts = tf.Module()
        steps = []
        for number, (pattern, chosen) in enumerate(self._divide_variables(variables).items()):
            scope = f"training/optimizer_{number}"
            count = tf.Variable(
                tf.zeros([], tf.int64),
                trainable=False,
                name=f"{scope}/iterations",
                aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
            )
            with tf.name_scope(f"{scope}/"):
                step = self._optimizers[pattern].minimize(
                    loss,
                    [variables[i] for i in chosen],
                    count,
                    [gradients[i] for i in chosen],
                )
            setattr(parts, f"optimizer_{number}", step.trackable)
            steps.append(step.operation)
        with tf.control_dependencies(steps):
            counted = global_step.assign_add(1)
        return TrainStep(tf.group(counted), parts)

    def _divide_variables(self, variables: Sequence[tf.Variable]) -> dict[str, list[int]]:
        """Returns the positions of each optimizer's variables, by its pattern."""
        shares: dict[str, list[int]] = {pattern: [] for pattern in self._optimizers}
        for position, variable in enumerate(variables):
            found = next((p for p in shares if re.match(p, variable.name)), None)
            if found is None:
                raise ValueError(
                    f"The variable '{variable.name}' matches none of the optimizers' patterns "
                    f"{list(shares)}. Add one, such as '.*' at the end for all others."
                )
            shares[found].append(position)
        idle = [pattern for pattern, chosen in shares.items() if not chosen]
        if idle:
            names = [variable.name for variable in variables]
            raise ValueError(
                f"The optimizers' patterns {idle} match none of the trainable variables {names}."
            )
        return shares
