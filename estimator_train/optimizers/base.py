"""Interface of optimizers in a graph; gradients, schedules and the state of Keras's optimizers.

The state is the slots, the learning rate and the count of updates. A slot is a variable that an
optimizer keeps for a variable of the model, such as its momentum.
"""

import abc
import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import tensorflow as tf
import tf_keras

# Optimizers of Keras, also those inside a LossScaleOptimizer or around a v1 optimizer.
KerasLike: TypeAlias = tf_keras.optimizers.Optimizer | tf_keras.optimizers.legacy.Optimizer
AnyOptimizer: TypeAlias = KerasLike | tf.compat.v1.train.Optimizer
_LOG = tf.get_logger()
SCOPE = "training"
# Slots that are named differently in legacy optimizers (left) and new ones (right).
_NEW_NAMES = {
    "SGD": {"momentum": "m"},
    "RMSprop": {"rms": "velocity", "mg": "average_gradient"},
    "Adadelta": {"accum_grad": "accumulated_grad", "accum_var": "accumulated_delta_var"},
    "Adamax": {"v": "u"},
}
# Slots of new optimizers, and their names in optimizers of tf.compat.v1.train.
_V1_MOMENTUM = "Momentum"
_V1_NAMES = {
    "Adam": {"m": "Adam", "v": "Adam_1"},
    "Adagrad": {"accumulator": "Adagrad"},
    "RMSprop": {"velocity": "RMSProp", "momentum": "RMSProp_1"},
    "SGD": {"m": _V1_MOMENTUM},
    "Ftrl": {"accumulator": "Ftrl", "linear": "Ftrl_1"},
    "Adadelta": {"accumulated_grad": "Adadelta", "accumulated_delta_var": "Adadelta_1"},
}
_V1_CENTERED = {"velocity": "RMSProp", "average_gradient": "RMSProp_1", "momentum": "RMSProp_2"}
Optimizer: TypeAlias = tf_keras.optimizers.Optimizer | tf_keras.optimizers.legacy.Optimizer
Slots = dict[tuple[str, int], tf.Variable]


class TrainStep(NamedTuple):
    """One training step in a graph.

    Attributes:
      operation: Changes the variables once and counts the step.
      trackable: What an object-based checkpoint holds as the model's `optimizer`.
    """

    operation: tf.Operation | tf.Tensor
    trackable: Any


class GraphOptimizer(abc.ABC):
    """Settings of an optimizer, from which each graph creates its own optimizer.

    Attributes:
      scales_loss: Whether the optimizer itself divides the loss by the number of replicas.
      scales_gradients: Whether the loss is scaled for float16, and gradients back.
      scope: The name scope of its variables; a trailing slash reopens an existing scope.
    """

    scales_loss = False
    scales_gradients = False
    scope = SCOPE

    @abc.abstractmethod
    def minimize(
        self,
        loss: tf.Tensor,
        variables: Sequence[tf.Variable],
        global_step: tf.Variable,
        gradients: Sequence[Any] | None = None,
    ) -> TrainStep:
        """Builds a training step in the default graph.

        Args:
          loss: A float scalar; under a strategy the gradients of the replicas are summed.
          variables: The variables to train. Those that the loss does not depend on are left
            unchanged, with a warning.
          global_step: Count of steps, an int64 scalar variable.
          gradients: The gradients of the loss by the variables, if they are already computed.

        Returns:
          The step's operation and the optimizer that checkpoints save.

        Raises:
          ValueError: The loss does not depend on any of the variables.
        """


class KerasOptimizer(GraphOptimizer):
    """Settings of a tf_keras optimizer.

    Args:
      optimizer: The eager optimizer.
      loss_scaling: Arguments of the LossScaleOptimizer around it, or None.
    """

    def __init__(self, optimizer: KerasLike, loss_scaling: dict[str, Any] | None) -> None:
        self._class = type(optimizer)
        self._loss_scaling = loss_scaling
        self.scales_gradients = loss_scaling is not None
        self._schedule = get_schedule(optimizer)
        with register_schedule(optimizer):
            self._config = dict(optimizer.get_config())

    def _add_loss_scaling(self, optimizer: KerasLike) -> Any:
        if self._loss_scaling is None:
            return optimizer
        return tf_keras.mixed_precision.LossScaleOptimizer(optimizer, **self._loss_scaling)

    def _gradients(
        self,
        optimizer: KerasLike,
        loss: tf.Tensor,
        variables: Sequence[tf.Variable],
        gradients: Sequence[Any] | None,
    ) -> list[tuple[Any, tf.Variable]]:
        if self._loss_scaling:
            loss = optimizer.get_scaled_loss(loss)
        if gradients is None:
            gradients = compute_gated_gradients(loss, variables)
        pairs = drop_missing_gradients(zip(gradients, variables, strict=True))
        if not self._loss_scaling:
            return pairs
        scaled, trained = zip(*pairs, strict=True)
        return list(zip(optimizer.get_unscaled_gradients(scaled), trained, strict=True))


def compute_gated_gradients(loss: tf.Tensor, variables: Sequence[tf.Variable]) -> list[Any]:
    """Returns the gradient of the loss by each variable; None where there is no dependency.

    All gradients of an operation are computed before any is used, which is the default of
    `tf.compat.v1.train.Optimizer` too: layers are then differentiated one after another, which is
    up to 5% faster.
    """
    return tf.gradients(loss, list(variables), gate_gradients=True)


def drop_missing_gradients(
    pairs: Iterable[tuple[Any, tf.Variable]],
) -> list[tuple[Any, tf.Variable]]:
    """Returns the pairs of gradient and variable whose gradient is not None.

    Raises:
      ValueError: All gradients are None.
    """
    pairs = list(pairs)
    absent = [variable.name for gradient, variable in pairs if gradient is None]
    if len(absent) == len(pairs):
        raise ValueError(
            f"The loss of the Keras model depends on none of its trainable variables {absent}. "
            "Check `trainable` of its layers, and that the loss uses the model's outputs."
        )
    if absent:
        _LOG.warning(
            "Gradients do not exist for variables %s when minimizing the loss; these variables "
            "stay unchanged.",
            absent,
        )
    return [(gradient, variable) for gradient, variable in pairs if gradient is not None]


def get_schedule(optimizer: KerasLike) -> Any:
    """Returns the optimizer's learning-rate schedule, or None."""
    # New optimizers show only its current value; legacy ones the schedule itself.
    rate = getattr(optimizer, "_learning_rate", None)
    rate = getattr(optimizer, "learning_rate", None) if rate is None else rate
    schedules = tf_keras.optimizers.schedules.LearningRateSchedule
    return rate if isinstance(rate, schedules) else None


def copy_optimizer(optimizer: KerasLike) -> Any:
    """Returns a new optimizer for eager code with the settings of another one.

    Raises:
      ValueError: Its learning-rate schedule has no config.
    """
    if isinstance(getattr(optimizer, "optimizer", None), tf.compat.v1.train.Optimizer):
        return optimizer  # Keras's wrapper of a v1 optimizer has no config.
    if hasattr(optimizer, "inner_optimizer"):
        return tf_keras.mixed_precision.LossScaleOptimizer(
            copy_optimizer(optimizer.inner_optimizer),
            dynamic=optimizer.dynamic,
            initial_scale=optimizer.initial_scale,
            dynamic_growth_steps=optimizer.dynamic_growth_steps,
        )
    return type(optimizer).from_config(read_config(optimizer))


def read_config(optimizer: KerasLike) -> dict[str, Any]:
    """Returns the config of an optimizer, with its learning-rate schedule as an object.

    Raises:
      ValueError: Its learning-rate schedule has no config.
    """
    schedule = get_schedule(optimizer)
    with register_schedule(optimizer):
        config = dict(optimizer.get_config())
    return {**config, "learning_rate": schedule} if schedule else config


@contextlib.contextmanager
def register_schedule(optimizer: KerasLike) -> Any:
    """Registers the class of an optimizer's schedule while its config is read.

    Raises:
      ValueError: The learning-rate schedule has no config.
    """
    schedule = get_schedule(optimizer)
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


def find_inner_optimizer(optimizer: Optimizer) -> Any:
    """Returns the optimizer inside a LossScaleOptimizer, or any other optimizer itself."""
    return getattr(optimizer, "inner_optimizer", optimizer)


def make_slots(optimizer: Optimizer, variables: Sequence[tf.Variable]) -> None:
    """Creates the variables of an unused eager optimizer."""
    inner = find_inner_optimizer(optimizer)
    if hasattr(inner, "build"):
        inner.build(list(variables))
    elif hasattr(inner, "_create_all_weights"):
        # tf_keras calls this before it loads a legacy optimizer's weights.
        inner._create_all_weights(list(variables))


def find_slots(optimizer: Optimizer, variables: Sequence[tf.Variable]) -> Slots:
    """Finds an optimizer's slots for the variables of a model.

    Args:
      optimizer: A tf_keras optimizer, new or legacy, that has its variables.
      variables: The model's trainable variables, in the model's order.

    Returns:
      (Name of the slot in new optimizers, position of the model's variable) to the slot's variable.
    """
    inner = find_inner_optimizer(optimizer)
    if not hasattr(inner, "get_slot_names"):
        return _match_by_name(_list_variables(inner), variables)
    renamed = map_slot_names(inner)
    found: Slots = {}
    for slot in inner.get_slot_names():
        for position, variable in enumerate(variables):
            try:
                found[renamed.get(slot, slot), position] = inner.get_slot(variable, slot)
            except KeyError:
                continue  # The variable is not trained.
    return found


def map_slot_names(optimizer: Optimizer) -> dict[str, str]:
    """Maps slot names of a legacy optimizer to the different names of the new one."""
    classes = [cls.__name__ for cls in type(find_inner_optimizer(optimizer)).__mro__]
    return next((_NEW_NAMES[name] for name in classes if name in _NEW_NAMES), {})


def find_saved_slot_names(
    optimizer: Optimizer, slot: str, name: str, saved: Mapping[str, tuple[int, ...]]
) -> list[str]:
    """Finds a slot in a checkpoint that a new, a legacy or a v1 optimizer may have written.

    Args:
      optimizer: A tf_keras optimizer, new or legacy.
      slot: Name of the slot in new optimizers.
      name: Name of the model's variable in the checkpoint.
      saved: Names and shapes of the checkpoint's variables.

    Returns:
      The names in the checkpoint that it may have.
    """
    classes = [cls.__name__ for cls in type(find_inner_optimizer(optimizer)).__mro__]
    legacy = {new: old for cls in classes for old, new in _NEW_NAMES.get(cls, {}).items()}
    v1 = {new: old for cls in classes for new, old in _V1_NAMES.get(cls, {}).items()}
    if getattr(find_inner_optimizer(optimizer), "centered", False):
        v1 = _V1_CENTERED
    called = {slot, legacy.get(slot, slot), v1.get(slot, slot)}
    endings = [f"{name}/{one}" for one in called] + [f"{one}/{name}" for one in called]
    return [
        known for known in saved if any(f"/{known}".endswith(f"/{ending}") for ending in endings)
    ]


def compute_slot_scale(optimizer: Optimizer, name: str) -> float:
    """Returns the factor from a slot's value in a checkpoint to its value in a tf_keras optimizer.

    Momentum is a sum of gradients in tf.compat.v1, and a sum of updates in tf_keras.

    Args:
      optimizer: A tf_keras optimizer.
      name: The slot's name in the checkpoint.
    """
    rate = get_learning_rate(optimizer)
    of_gradients = name.rpartition("/")[2] == _V1_MOMENTUM
    return -float(rate.numpy()) if of_gradients and rate is not None else 1.0


def get_learning_rate(optimizer: Optimizer) -> tf.Variable | None:
    """Returns the variable of the learning rate; None if it is not a variable."""
    inner = find_inner_optimizer(optimizer)
    # A new optimizer with a schedule keeps the current value apart.
    names = ("_current_learning_rate", "_learning_rate", "learning_rate")
    found = (getattr(inner, name, None) for name in names)
    return next((rate for rate in found if isinstance(rate, tf.Variable)), None)


def get_iterations(optimizer: Optimizer) -> tf.Variable | None:
    """Returns the variable that counts updates; None if there is no such variable."""
    found = getattr(find_inner_optimizer(optimizer), "iterations", None)
    return found if isinstance(found, tf.Variable) else None


def _list_variables(optimizer: Optimizer) -> list[tf.Variable]:
    variables = getattr(optimizer, "variables", ())
    return list(variables() if callable(variables) and not list(variables) else variables)


def _match_by_name(kept: Sequence[tf.Variable], variables: Sequence[tf.Variable]) -> Slots:
    """Returns the slots of a new optimizer, named `slot/name of the model's variable`."""
    names = [_strip_index(variable) for variable in variables]
    found: Slots = {}
    for variable in kept:
        name = _strip_index(variable)
        fitting = [i for i, known in enumerate(names) if name.endswith(f"/{known}")]
        # Prefers the longest name that fits, and the next one among equal names.
        for position in sorted(fitting, key=lambda i: (-len(names[i]), i)):
            slot = name[: -len(names[position]) - 1].rpartition("/")[2]
            if (slot, position) not in found:
                found[slot, position] = variable
                break
    return found


def _strip_index(variable: tf.Variable) -> str:
    return variable.name.partition(":")[0]
