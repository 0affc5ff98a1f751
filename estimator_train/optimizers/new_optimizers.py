"""New optimizers of tf_keras in a graph."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.optimizers.base import KerasLike, KerasOptimizer, TrainStep
from estimator_train.optimizers.state import find_inner_optimizer


class NewOptimizer(KerasOptimizer):
    """New optimizer of tf_keras.optimizers, which relies on the order of eager execution.

    A tf.function keeps that order in a graph. It is called once for all replicas and calls
    `apply_gradients` on each, as a training loop of TF2 would.

    Args:
      optimizer: The eager optimizer.
      loss_scaling: Arguments of the LossScaleOptimizer around it, or None.
      accumulated_steps: Number of steps whose mean gradient makes one update of the weights.

    Raises:
      ValueError: A setting of the optimizer has no effect in a graph.
    """

    def __init__(
        self, optimizer: KerasLike, loss_scaling: dict[str, Any] | None, accumulated_steps: int = 1
    ) -> None:
        super().__init__(optimizer, loss_scaling)
        self._accumulated_steps = accumulated_steps
        refused = find_refusal(optimizer)
        if refused:
            raise ValueError(refused)
        # tf_keras has no public getter for the argument of exclude_from_weight_decay().
        self._undecayed = list(getattr(optimizer, "_exclude_from_weight_decay_names", None) or ())
        if self._schedule:
            self._config["learning_rate"] = 0.0  # assigned in every step
        self._config["jit_compile"] = False

    def minimize(
        self,
        loss: tf.Tensor,
        variables: Sequence[tf.Variable],
        global_step: tf.Variable,
        gradients: Sequence[Any] | None = None,
    ) -> TrainStep:
        """Builds a training step in the default graph; see the base class."""
        outer = "" if self._loss_scaling else f"{self.scope.rstrip('/')}/"
        scope = tf.name_scope(outer + self._config["name"])
        with scope, tf.variable_creator_scope(_not_trainable):
            inner = self._class.from_config(self._config)
            if self._undecayed:
                inner.exclude_from_weight_decay(var_names=self._undecayed)
            optimizer = self._add_loss_scaling(inner)
            pairs = self._gradients(optimizer, loss, variables, gradients)
            trained = [variable for _, variable in pairs]
            inner.build(trained)
            accumulators = _create_accumulators(trained) if self._accumulated_steps > 1 else []
        update = _Update(
            optimizer, self._schedule, global_step, self._accumulated_steps, accumulators
        )
        context = tf.distribute.get_replica_context()
        return TrainStep(context.merge_call(update.on_all_replicas, args=(pairs,)), optimizer)


@dataclasses.dataclass(frozen=True, eq=False)
class _Update:
    """Update of variables by the gradients of a training step.

    Attributes:
      optimizer: The optimizer in the graph, or a LossScaleOptimizer around it.
      schedule: The schedule of its learning rate, or None.
      global_step: Count of steps.
      every: Number of steps whose mean gradient makes one update of the weights.
      accumulators: Variables for sums of gradients; none where each step is an update.
    """

    optimizer: KerasLike
    schedule: Any
    global_step: tf.Variable
    every: int
    accumulators: Sequence[tf.Variable]

    def on_all_replicas(self, strategy: tf.distribute.Strategy, pairs: Any) -> tf.Tensor:
        """Applies the gradients and counts the step.

        Args:
          strategy: The strategy, whose replicas are all in this call.
          pairs: Gradients and variables, each with a value for every replica.

        Returns:
          The new global step.
        """
        # Summed outside of the function, where TensorFlow would use collective operations, which
        # never end in a session.
        summed = strategy.extended.batch_reduce_to(tf.distribute.ReduceOp.SUM, pairs)
        variables = [variable for _, variable in pairs]

        @tf.function(autograph=False)
        def apply() -> tf.Tensor:
            if self.accumulators:
                self._accumulate(strategy, summed, variables)
            else:
                self._apply(strategy, summed, variables)
            return tf.constant(True)

        # Weight decay needs no gradient. Without this group the inlined function would decay the
        # weights before they are read (TensorFlow drops a dependency on an input of the
        # function).
        parts = [part for sums in summed for part in strategy.experimental_local_results(sums)]
        with tf.control_dependencies([tf.group(*parts)]):
            applied = apply()
        with tf.control_dependencies([applied]):
            return self.global_step.assign_add(1)

    def _apply(
        self, strategy: tf.distribute.Strategy, gradients: Any, variables: Sequence[tf.Variable]
    ) -> None:
        """Updates the variables on each replica."""
        if self.schedule:
            updates = self.global_step // self.every
            find_inner_optimizer(self.optimizer).learning_rate.assign(self.schedule(updates))

        def apply(gradients: Any) -> None:
            dense = [
                g if isinstance(g, tf.IndexedSlices) else tf.convert_to_tensor(g) for g in gradients
            ]
            pairs = zip(dense, variables, strict=True)
            self.optimizer.apply_gradients(pairs, skip_gradients_aggregation=True)

        strategy.run(apply, args=(gradients,))

    def _accumulate(
        self,
        strategy: tf.distribute.Strategy,
        gradients: Sequence[Any],
        variables: Sequence[tf.Variable],
    ) -> None:
        """Adds a step's gradients; the last of `every` steps updates variables by their mean."""

        def add(accumulator: tf.Variable, gradient: Any) -> None:
            accumulator.assign_add(tf.convert_to_tensor(gradient) / self.every)

        def update() -> None:
            self._apply(strategy, list(self.accumulators), variables)
            for accumulator in self.accumulators:
                strategy.extended.update(accumulator, lambda a: a.assign(tf.zeros_like(a)))

        for accumulator, gradient in zip(self.accumulators, gradients, strict=True):
            strategy.extended.update(accumulator, add, args=(gradient,))
        tf.cond(tf.equal((self.global_step + 1) % self.every, 0), update, lambda: None)


def _create_accumulators(variables: Sequence[tf.Variable]) -> list[tf.Variable]:
    """Creates variables for sums of gradients."""
    return [
        tf.Variable(
            lambda v=variable: tf.zeros(v.shape, v.dtype),
            trainable=False,
            name=f"accumulated/{variable.name.partition(':')[0]}",
        )
        for variable in variables
    ]


def find_refusal(optimizer: KerasLike) -> str | None:
    """Returns why a new optimizer cannot work in a graph as it does in `fit`, or None.

    Args:
      optimizer: The eager optimizer.
    """
    name = type(optimizer).__name__
    if optimizer.use_ema:
        return (
            f"{name}(use_ema=True) is not supported in an Estimator: Keras "
            "puts the averages in place of the weights at the end of fit(), and an Estimator "
            "has no such end. Set use_ema=False, or average the weights with "
            "tf.train.ExponentialMovingAverage in a model_fn."
        )
    if isinstance(optimizer, tf_keras.optimizers.Nadam):
        return (
            f"{name} of tf_keras.optimizers compares variables by ==, which "
            "tells nothing in an Estimator's graph. Use tf_keras.optimizers.legacy.Nadam."
        )
    # tf_keras has no public getter for this one either.
    if getattr(optimizer, "_exclude_from_weight_decay", None):
        return (
            f"{name}.exclude_from_weight_decay(var_list=...) names variables "
            "of the eager model, which are no part of an Estimator's graph. Use var_names=..."
        )
    return None


def _not_trainable(next_creator: Callable[..., Any], **arguments: Any) -> Any:
    """Creates a variable that is not trainable; optimizers create some trainable ones."""
    return next_creator(**{**arguments, "trainable": False})
