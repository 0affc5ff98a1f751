"""Several optimizers for one model, each for variables whose names match a pattern."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.optimizers.base import GraphOptimizer, TrainStep, compute_gated_gradients


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
