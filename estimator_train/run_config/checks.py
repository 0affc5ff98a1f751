"""Checks of RunConfig's settings: the valid values of each, and the errors for all others."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.lifecycle.preemption import Preemption

Check = Callable[[str, Any], None]  # Takes the name of a setting and its value.


def make_check(
    is_valid: Callable[[Any], bool], message: str, error: type[Exception] = ValueError
) -> Check:
    """Returns a check that raises an error unless a condition holds.

    Args:
      is_valid: Predicate of the value.
      message: Text of the error, with the fields `{name}` and `{value}`.
      error: Type of the error.
    """

    def check(name: str, value: object) -> None:
        if not is_valid(value):
            raise error(message.format(name=name, value=value))

    return check


def make_choice_check(*choices: str) -> Check:
    """Returns the check of a setting whose value is one of some strings."""
    listed = " or ".join(map(repr, choices))
    return make_check(
        lambda value: value in choices, f"{{name}} should be {listed}, got {{value!r}}"
    )


def _combine(first: Check, second: Check) -> Check:
    def check(name: str, value: object) -> None:
        first(name, value)
        second(name, value)

    return check


def _is_positive_integer(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) > 0


def _takes_only_op(function: object) -> bool:
    if not callable(function):
        return False
    parameters = inspect.signature(function).parameters
    return list(parameters) == ["op"] and (
        parameters["op"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    )


def _is_keep_best(value: object) -> bool:
    if not isinstance(value, tuple) or len(value) != 3:
        return False
    return (
        isinstance(value[0], str) and value[1] in ("min", "max") and _is_positive_integer(value[2])
    )


def _is_number(value: Any) -> bool:
    """Returns whether a value can be compared to a number, as arrays without dimensions can."""
    try:
        bool(value < 0)
    except TypeError:
        return False
    return True


def _make_type_check(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


_NUMBER = make_check(_is_number, "{name} must be a number, got {value!r}", TypeError)
AT_LEAST_ZERO = _combine(
    _NUMBER, make_check(lambda v: not v < 0, "{name} should be >= 0, got {value}")
)
POSITIVE = _combine(_NUMBER, make_check(lambda v: not v <= 0, "{name} should be > 0, got {value}"))
INTEGER = make_check(_make_type_check(numbers.Integral), "{name} must be integer. Got {value!r}")
INTEGER_IF_SET = make_check(
    _make_type_check(numbers.Integral), "{name} must be an integer if set. Got {value!r}"
)
SWITCH = make_check(_make_type_check(bool), "{name} should be True or False, got {value!r}")
XLA = make_check(
    lambda value: isinstance(value, bool) or value == "auto",
    "{name} should be True, False or 'auto', got {value!r}",
)
NON_EMPTY = make_check(lambda value: value != "", "{name} should be non-empty.")
PROTOCOL = make_check(
    lambda value: value in ("grpc", "grpc+verbs"),
    "{name} should be grpc or grpc+verbs, got {value!r}",
)
CONFIG_PROTO = make_check(
    _make_type_check(tf.compat.v1.ConfigProto),
    "{name} must be instance of ConfigProto, got {value!r}",
)
FUNCTION_OF_OP = make_check(
    _takes_only_op, '{name} must be callable with exactly one argument "op". Got {value!r}'
)
LOOP = make_check(
    lambda value: value == "auto" or _is_positive_integer(value),
    "{name} should be an integer > 0 or 'auto', got {value!r}. 1 runs every step by itself.",
)
PREEMPTION = make_check(
    _make_type_check(bool, Preemption),
    "{name} should be a Preemption, True or False, got {value!r}",
)
KEEP_BEST = make_check(
    _is_keep_best,
    "{name} should be (metric name, 'min' or 'max', an integer > 0), as ('accuracy', 'max', 3), "
    "got {value!r}",
)


def check_parameter_servers(*strategies: tf.distribute.Strategy | None) -> None:
    """Refuses TensorFlow 2's strategy of parameter servers, as tf.estimator does.

    Args:
      *strategies: The strategies that the constructor got; None for no strategy.

    Raises:
      ValueError: One of them is a `tf.distribute.ParameterServerStrategy`.
    """
    if any(isinstance(strategy, tf.distribute.ParameterServerStrategy) for strategy in strategies):
        raise ValueError(
            "Please use `tf.compat.v1.distribute.experimental.ParameterServerStrategy` for "
            "parameter server strategy with estimator."
        )
