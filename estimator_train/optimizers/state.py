"""State of new and legacy optimizers: slots, learning rate, count of updates.

A slot is a variable that an optimizer keeps for a variable of the model, such as its momentum.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import tensorflow as tf
import tf_keras

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
