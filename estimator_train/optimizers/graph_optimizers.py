"""Graph forms of the optimizers of Keras models: new, legacy, and those of TensorFlow 1."""

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.engine.tf_internals.modes import enter_eager_mode
from estimator_train.optimizers.base import (
    AnyOptimizer,
    GraphOptimizer,
    KerasLike,
    KerasOptimizer,
    TrainStep,
    drop_missing_gradients,
    find_inner_optimizer,
    register_schedule,
)

_LOG = tf.get_logger()
# Equivalent to their legacy forms, whose names are in checkpoints of tf.estimator.
_WITH_LEGACY_FORM = (
    tf_keras.optimizers.Adadelta,
    tf_keras.optimizers.Adagrad,
    tf_keras.optimizers.Adam,
    tf_keras.optimizers.Adamax,
    tf_keras.optimizers.Ftrl,
    tf_keras.optimizers.Nadam,
    tf_keras.optimizers.RMSprop,
    tf_keras.optimizers.SGD,
)


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


def make_graph_optimizer(
    optimizer: AnyOptimizer, *, original_names: bool = True, accumulated_steps: int = 1
) -> GraphOptimizer:
    """Reads the settings of the optimizer that a model was compiled with.

    Args:
      optimizer: One of `tf_keras.optimizers`, `tf_keras.optimizers.legacy` or
        `tf.compat.v1.train`, a LossScaleOptimizer around one, or Keras's wrapper of a v1 optimizer.
        It is never changed.
      original_names: Whether a new optimizer with a legacy form takes that form, so that its
        variables have the names that they have in checkpoints of tf.estimator; if not, it computes
        exactly what `fit` does.
      accumulated_steps: Number of steps whose mean gradient makes one update of the weights.

    Raises:
      ValueError: A setting cannot be read, or has no effect in a graph.
      TypeError: It is not such an optimizer.
    """
    wrapped = getattr(optimizer, "optimizer", None)
    if isinstance(optimizer, tf.compat.v1.train.Optimizer):
        wrapped = optimizer
    if isinstance(wrapped, tf.compat.v1.train.Optimizer):
        _check_can_accumulate(wrapped, accumulated_steps)
        return _V1(wrapped)
    loss_scaling = None
    if hasattr(optimizer, "inner_optimizer"):
        loss_scaling = {
            name: getattr(optimizer, name)
            for name in ("dynamic", "initial_scale", "dynamic_growth_steps")
        }
        optimizer = optimizer.inner_optimizer
    if original_names and accumulated_steps == 1 and _has_legacy_form(optimizer):
        _warn_of_ignored_settings(optimizer)
        optimizer = _convert(optimizer)
    if isinstance(optimizer, tf_keras.optimizers.legacy.Optimizer):
        _check_can_accumulate(optimizer, accumulated_steps)
        return _Legacy(optimizer, loss_scaling)
    if isinstance(optimizer, tf_keras.optimizers.Optimizer):
        return NewOptimizer(optimizer, loss_scaling, accumulated_steps)
    raise TypeError(
        f"The Keras model was compiled with the optimizer {optimizer!r} of type "
        f"{type(optimizer).__name__}. Use one of tf_keras.optimizers or tf.compat.v1.train."
    )


def _warn_of_ignored_settings(optimizer: AnyOptimizer) -> None:
    if optimizer.weight_decay:
        _LOG.warning(
            "%s(weight_decay=%s): an Estimator trains without the decay, which it cannot do for "
            "Nadam, with averages or for variables that exclude_from_weight_decay(var_list=...) "
            "names.",
            type(optimizer).__name__,
            optimizer.weight_decay,
        )
    if optimizer.use_ema:
        _LOG.warning(
            "%s(use_ema=True): an Estimator trains without the averages, which Keras puts in place "
            "of the weights at the end of fit().",
            type(optimizer).__name__,
        )


def _check_can_accumulate(optimizer: AnyOptimizer, steps: int) -> None:
    if steps > 1:
        raise ValueError(
            f"Gradients of {steps} steps are to be accumulated, which {type(optimizer).__name__} "
            f"of {type(optimizer).__module__} cannot do. Use the one of tf_keras.optimizers, such "
            "as tf_keras.optimizers.Adam."
        )


def make_legacy_form(optimizer: AnyOptimizer) -> tf_keras.optimizers.legacy.Optimizer | None:
    """Returns a new legacy optimizer with all settings of another, or None if none exists.

    Args:
      optimizer: One of `tf_keras.optimizers` or `tf_keras.optimizers.legacy`, made in eager code.
        It is never changed.
    """
    with enter_eager_mode():
        if isinstance(optimizer, tf_keras.optimizers.legacy.Optimizer):
            return _Legacy(optimizer, None).copy()
        return _convert(optimizer) if _has_legacy_form(optimizer) else None


class _V1(GraphOptimizer):
    """Optimizer of tf.compat.v1.train."""

    scales_loss = True

    def __init__(self, optimizer: tf.compat.v1.train.Optimizer) -> None:
        self._optimizer = optimizer

    def minimize(
        self,
        loss: tf.Tensor,
        variables: Sequence[tf.Variable],
        global_step: tf.Variable,
        gradients: Sequence[Any] | None = None,
    ) -> TrainStep:
        """Builds a training step in the default graph; see the base class."""
        with tf.name_scope(self.scope):
            if gradients is None:
                pairs = self._optimizer.compute_gradients(loss, list(variables))
            else:
                pairs = list(zip(gradients, variables, strict=True))
            step = self._optimizer.apply_gradients(drop_missing_gradients(pairs), global_step)
        # Keras wraps a v1 optimizer in an object, which is a level in checkpoints.
        wrapper = tf.Module()
        wrapper.optimizer = self._optimizer
        return TrainStep(step, wrapper)


class _Legacy(KerasOptimizer):
    """Optimizer of tf_keras.optimizers.legacy, which works in graphs unchanged."""

    def copy(self) -> Any:
        """Returns a new optimizer with the same settings, without a LossScaleOptimizer."""
        config = dict(self._config)
        if self._schedule:
            config["learning_rate"] = self._schedule
        return self._class.from_config(config)

    def minimize(
        self,
        loss: tf.Tensor,
        variables: Sequence[tf.Variable],
        global_step: tf.Variable,
        gradients: Sequence[Any] | None = None,
    ) -> TrainStep:
        """Builds a training step in the default graph; see the base class."""
        with contextlib.nullcontext() if self._loss_scaling else tf.name_scope(self.scope):
            optimizer = self._add_loss_scaling(self.copy())
            optimizer.iterations = global_step
            pairs = self._gradients(optimizer, loss, variables, gradients)
            return TrainStep(optimizer.apply_gradients(pairs), optimizer)


def _has_legacy_form(optimizer: AnyOptimizer) -> bool:
    """Returns whether the legacy optimizer of the same name supports all settings of a new one.

    A subclass may compute anything. Weight decay is new: if a graph does not support it, training
    ignores it, as in tf.estimator.
    """
    if type(optimizer) not in _WITH_LEGACY_FORM:
        return False
    return not optimizer.weight_decay or bool(find_refusal(optimizer))


def _convert(optimizer: AnyOptimizer) -> Any:
    """Converts a new optimizer that has a legacy form."""
    with register_schedule(optimizer):
        return tf_keras.__internal__.optimizers.convert_to_legacy_optimizer(optimizer)
