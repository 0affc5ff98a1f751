"""Keras and v1 optimizers as one training operation in a graph."""

import abc
import contextlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf
import tf_keras

_LOG = tf.get_logger()
_SCOPE = "training"
# These compute what their legacy forms do, and checkpoints hold them under the names of those.
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


class TrainStep(NamedTuple):
    """One training step in a graph.

    Attributes:
      operation: Changes the variables once and counts the step.
      trackable: What an object-based checkpoint holds as the model's `optimizer`.
    """

    operation: tf.Operation | tf.Tensor
    trackable: Any


class GraphOptimizer(abc.ABC):
    """An optimizer's settings, of which each graph makes an optimizer for itself.

    Attributes:
      scales_loss: Whether the optimizer itself divides the loss by the number of replicas.
    """

    scales_loss = False

    @abc.abstractmethod
    def minimize(
        self, loss: tf.Tensor, variables: Sequence[tf.Variable], global_step: tf.Variable
    ) -> TrainStep:
        """Builds a training step in the default graph.

        Args:
          loss: A scalar; under a strategy the replicas' gradients are summed.
          variables: The variables to train. Those that the loss does not depend on are left as
            they are, with a warning.
          global_step: Counts the steps, an int64 scalar.

        Raises:
          ValueError: The loss depends on none of the variables.
        """


def graph_optimizer(optimizer: Any) -> GraphOptimizer:
    """Reads the settings of the optimizer that a model was compiled with.

    Args:
      optimizer: One of `tf_keras.optimizers` or `tf_keras.optimizers.legacy`, a loss scaling one
        around these, or what Keras makes of one of `tf.compat.v1.train`. It is never changed.

    Raises:
      ValueError: A setting can be neither read nor honoured.
      TypeError: It is none of these.
    """
    if isinstance(getattr(optimizer, "optimizer", None), tf.compat.v1.train.Optimizer):
        return _V1(optimizer.optimizer)
    loss_scaling = None
    if hasattr(optimizer, "inner_optimizer"):
        loss_scaling = {
            name: getattr(optimizer, name)
            for name in ("dynamic", "initial_scale", "dynamic_growth_steps")
        }
        optimizer = optimizer.inner_optimizer
    if _has_legacy_form(optimizer):
        optimizer = _converted(optimizer)
    if isinstance(optimizer, tf_keras.optimizers.legacy.Optimizer):
        return _Legacy(optimizer, loss_scaling)
    if isinstance(optimizer, tf_keras.optimizers.Optimizer):
        return _New(optimizer, loss_scaling)
    raise TypeError(
        f"The Keras model was compiled with the optimizer {optimizer!r} of type "
        f"{type(optimizer).__name__}. Use one of tf_keras.optimizers or tf.compat.v1.train."
    )


def legacy_form(optimizer: Any) -> tf_keras.optimizers.legacy.Optimizer | None:
    """Returns a new legacy optimizer with all settings of another one, or None if there is none.

    Args:
      optimizer: One of `tf_keras.optimizers` or `tf_keras.optimizers.legacy`, made in eager code.
        It is never changed.
    """
    with tf.__internal__.eager_context.eager_mode():
        if isinstance(optimizer, tf_keras.optimizers.legacy.Optimizer):
            return _Legacy(optimizer, None).copy()
        return _converted(optimizer) if _has_legacy_form(optimizer) else None


class _V1(GraphOptimizer):
    """An optimizer of tf.compat.v1.train."""

    scales_loss = True

    def __init__(self, optimizer: tf.compat.v1.train.Optimizer) -> None:
        self._optimizer = optimizer

    def minimize(
        self, loss: tf.Tensor, variables: Sequence[tf.Variable], global_step: tf.Variable
    ) -> TrainStep:
        with tf.name_scope(_SCOPE):
            pairs = self._optimizer.compute_gradients(loss, list(variables))
            step = self._optimizer.apply_gradients(_existing(pairs), global_step)
        # Keras wraps a v1 optimizer in one of its own, which is a level in checkpoints.
        wrapper = tf.Module()
        wrapper.optimizer = self._optimizer
        return TrainStep(step, wrapper)


class _Keras(GraphOptimizer):
    """A tf_keras optimizer.

    Args:
      optimizer: The eager optimizer.
      loss_scaling: Arguments of the LossScaleOptimizer around it, or None.
    """

    def __init__(self, optimizer: Any, loss_scaling: dict[str, Any] | None) -> None:
        self._class = type(optimizer)
        self._loss_scaling = loss_scaling
        self._schedule = _schedule(optimizer)
        with _readable_schedule(optimizer):
            self._config = dict(optimizer.get_config())

    @property
    def _scope(self) -> str:
        return "" if self._loss_scaling else _SCOPE

    def _scaled(self, optimizer: Any) -> Any:
        if self._loss_scaling is None:
            return optimizer
        return tf_keras.mixed_precision.LossScaleOptimizer(optimizer, **self._loss_scaling)

    def _gradients(
        self, optimizer: Any, loss: tf.Tensor, variables: Sequence[tf.Variable]
    ) -> list[tuple[Any, tf.Variable]]:
        if self._loss_scaling:
            loss = optimizer.get_scaled_loss(loss)
        pairs = _existing(zip(tf.gradients(loss, list(variables)), variables, strict=True))
        if not self._loss_scaling:
            return pairs
        gradients, trained = zip(*pairs, strict=True)
        return list(zip(optimizer.get_unscaled_gradients(gradients), trained, strict=True))


class _Legacy(_Keras):
    """An optimizer of tf_keras.optimizers.legacy, which works in graphs as it is."""

    def copy(self) -> Any:
        """Returns a new optimizer with the same settings, without a LossScaleOptimizer."""
        config = dict(self._config)
        if self._schedule:
            config["learning_rate"] = self._schedule
        return self._class.from_config(config)

    def minimize(
        self, loss: tf.Tensor, variables: Sequence[tf.Variable], global_step: tf.Variable
    ) -> TrainStep:
        with _name_scope(self._scope):
            optimizer = self._scaled(self.copy())
            optimizer.iterations = global_step
            pairs = self._gradients(optimizer, loss, variables)
            return TrainStep(optimizer.apply_gradients(pairs), optimizer)


class _New(_Keras):
    """A new optimizer of tf_keras.optimizers, which counts on the order of eager execution.

    A tf.function keeps that order in a graph. It is called once for all replicas and sends each
    to `apply_gradients`, as a training loop of TF2 would.
    """

    def __init__(self, optimizer: Any, loss_scaling: dict[str, Any] | None) -> None:
        super().__init__(optimizer, loss_scaling)
        if optimizer.use_ema:
            raise ValueError(
                f"{self._class.__name__}(use_ema=True) is not supported in an Estimator: Keras "
                "puts the averages in place of the weights at the end of fit(), and an Estimator "
                "has no such end. Set use_ema=False, or average the weights with "
                "tf.train.ExponentialMovingAverage in a model_fn."
            )
        # tf_keras has no public getters for what exclude_from_weight_decay() was given.
        if getattr(optimizer, "_exclude_from_weight_decay", None):
            raise ValueError(
                f"{self._class.__name__}.exclude_from_weight_decay(var_list=...) names variables "
                "of the eager model, which are no part of an Estimator's graph. Use var_names=..."
            )
        self._undecayed = list(getattr(optimizer, "_exclude_from_weight_decay_names", None) or ())
        if self._schedule:
            self._config["learning_rate"] = 0.0  # assigned in every step
        self._config["jit_compile"] = False

    def minimize(
        self, loss: tf.Tensor, variables: Sequence[tf.Variable], global_step: tf.Variable
    ) -> TrainStep:
        scope = _name_scope(f"{self._scope}/{self._config['name']}".lstrip("/"))
        with scope, tf.variable_creator_scope(_not_trainable):
            inner = self._class.from_config(self._config)
            if self._undecayed:
                inner.exclude_from_weight_decay(var_names=self._undecayed)
            optimizer = self._scaled(inner)
            gradients, trained = zip(*self._gradients(optimizer, loss, variables), strict=True)
            inner.build(trained)

        def on_all_replicas(strategy: tf.distribute.Strategy, gradients: Any) -> tf.Tensor:
            # Summed out here: inside of a function TensorFlow would use collective operations,
            # which wait for ever in a session.
            summed = strategy.extended.batch_reduce_to(
                tf.distribute.ReduceOp.SUM, list(zip(gradients, trained, strict=True))
            )

            @tf.function(autograph=False)
            def apply() -> tf.Tensor:
                if self._schedule:
                    inner.learning_rate.assign(self._schedule(global_step))
                strategy.run(_applier(optimizer, trained), args=(summed,))
                return tf.constant(True)

            # Weight decay needs no gradient: once the function is inlined, it would run before the
            # weights are read, were it not for this group (a dependency on what is an input of
            # the function anyway is dropped).
            with tf.control_dependencies([tf.group(*_components(strategy, summed))]):
                applied = apply()
            with tf.control_dependencies([applied]):
                return global_step.assign_add(1)

        context = tf.distribute.get_replica_context()
        return TrainStep(context.merge_call(on_all_replicas, args=(gradients,)), optimizer)


def _not_trainable(next_creator: Callable[..., Any], **arguments: Any) -> Any:
    """Makes a variable that is the optimizer's own; some of them do not say so."""
    return next_creator(**{**arguments, "trainable": False})


def _applier(optimizer: Any, variables: Sequence[tf.Variable]) -> Any:
    def apply(gradients: Any) -> None:
        pairs = zip(gradients, variables, strict=True)
        optimizer.apply_gradients(pairs, skip_gradients_aggregation=True)

    return apply


def _components(strategy: tf.distribute.Strategy, values: Sequence[Any]) -> list[Any]:
    """What a strategy's values are made of, one part for each replica."""
    return [part for value in values for part in strategy.experimental_local_results(value)]


def _has_legacy_form(optimizer: Any) -> bool:
    """Whether the legacy optimizer of the same name honours all settings.

    A subclass may compute anything, and weight decay and averages are new.
    """
    if type(optimizer) not in _WITH_LEGACY_FORM:
        return False
    return not optimizer.weight_decay and not optimizer.use_ema


def _converted(optimizer: Any) -> Any:
    """The legacy form of a new optimizer that has one."""
    with _readable_schedule(optimizer):
        return tf_keras.__internal__.optimizers.convert_to_legacy_optimizer(optimizer)


def _existing(pairs: Any) -> list[tuple[Any, tf.Variable]]:
    """The pairs of gradient and variable that have a gradient."""
    pairs = list(pairs)
    absent = [variable.name for gradient, variable in pairs if gradient is None]
    if len(absent) == len(pairs):
        raise ValueError(
            f"The loss of the Keras model depends on none of its trainable variables {absent}. "
            "Check `trainable` of its layers, and that the loss uses the model's outputs."
        )
    if absent:
        _LOG.warning(
            "Gradients do not exist for variables %s when minimizing the loss; they stay as they "
            "are.",
            absent,
        )
    return [(gradient, variable) for gradient, variable in pairs if gradient is not None]


def _schedule(optimizer: Any) -> Any:
    """The optimizer's learning-rate schedule, or None."""
    # New optimizers show only its current value; legacy ones the schedule itself.
    rate = getattr(optimizer, "_learning_rate", None)
    rate = optimizer.learning_rate if rate is None else rate
    schedules = tf_keras.optimizers.schedules.LearningRateSchedule
    return rate if isinstance(rate, schedules) else None


@contextlib.contextmanager
def _readable_schedule(optimizer: Any) -> Any:
    """Within it, the optimizer's config is read, which asks its schedule for one too.

    Raises:
      ValueError: The schedule has none.
    """
    schedule = _schedule(optimizer)
    try:
        with tf_keras.utils.custom_object_scope({type(schedule).__name__: type(schedule)}):
            yield
    except NotImplementedError as error:
        if schedule is None:
            raise
        raise ValueError(
            f"The learning-rate schedule {type(schedule).__name__} has no get_config(), which is "
            "needed to use its optimizer in an Estimator. Give it one; it may return {}."
        ) from error


def _name_scope(name: str) -> contextlib.AbstractContextManager[Any]:
    return tf.name_scope(name) if name else contextlib.nullcontext()
