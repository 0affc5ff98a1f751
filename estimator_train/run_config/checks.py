"""The checks of RunConfig's settings: which values each may have, and the errors for all others."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.lifecycle.preemption import Preemption

Check = Callable[[str, Any], None]


def must(fits: Callable[[Any], bool], message: str, error: type[Exception] = ValueError) -> Check:
    """Makes a check from a condition.

    Args:
      fits: Whether the setting may have a value.
      message: Text of the error for a value that does not fit, with `{name}` and `{value}` in it.
      error: Type of the error.

    Returns:
      A function of the setting's name and its value, which raises the error.
    """

    def check(name: str, value: Any) -> None:
        if not fits(value):
            raise error(message.format(name=name, value=value))

    return check


def anything(name: str, value: Any) -> None:
    """The check that every value passes."""


def one_of(*choices: str) -> Check:
    """Makes the check for a string that is one of a few."""
    listed = " or ".join(map(repr, choices))
    return must(lambda value: value in choices, f"{{name}} should be {listed}, got {{value!r}}")


def _both(first: Check, second: Check) -> Check:
    def check(name: str, value: Any) -> None:
        first(name, value)
        second(name, value)

    return check


def _is_positive_integer(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) > 0


def _takes_only_op(function: Any) -> bool:
    if not callable(function):
        return False
    parameters = inspect.signature(function).parameters
    return list(parameters) == ["op"] and (
        parameters["op"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    )


def _names_best(value: Any) -> bool:
    three = isinstance(value, tuple) and len(value) == 3 and isinstance(value[0], str)
    return three and value[1] in ("min", "max") and _is_positive_integer(value[2])


def _is_number(value: Any) -> bool:
    """Whether it is less than a number or not: arrays and tensors of no dimensions are as well."""
    try:
        bool(value < 0)
    except TypeError:
        return False
    return True


def _instance_of(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


_NUMBER = must(_is_number, "{name} must be a number, got {value!r}", TypeError)
AT_LEAST_ZERO = _both(_NUMBER, must(lambda v: not v < 0, "{name} should be >= 0, got {value}"))
POSITIVE = _both(_NUMBER, must(lambda v: not v <= 0, "{name} should be > 0, got {value}"))
INTEGER = must(_instance_of(numbers.Integral), "{name} must be integer. Got {value!r}")
INTEGER_IF_SET = must(
    _instance_of(numbers.Integral), "{name} must be an integer if set. Got {value!r}"
)
SWITCH = must(_instance_of(bool), "{name} should be True or False, got {value!r}")
XLA = must(
    lambda value: isinstance(value, bool) or value == "auto",
    "{name} should be True, False or 'auto', got {value!r}",
)
NON_EMPTY = must(lambda value: value != "", "{name} should be non-empty.")
PROTOCOL = must(
    lambda value: value in ("grpc", "grpc+verbs"),
    "{name} should be grpc or grpc+verbs, got {value!r}",
)
CONFIG_PROTO = must(
    _instance_of(tf.compat.v1.ConfigProto), "{name} must be instance of ConfigProto, got {value!r}"
)
FUNCTION_OF_OP = must(
    _takes_only_op, '{name} must be callable with exactly one argument "op". Got {value!r}'
)
LOOP = must(
    lambda value: value == "auto" or _is_positive_integer(value),
    "{name} should be an integer > 0 or 'auto', got {value!r}. 1 runs every step by itself.",
)
PREEMPTION = must(
    _instance_of(bool, Preemption), "{name} should be a Preemption, True or False, got {value!r}"
)
KEEP_BEST = must(
    _names_best,
    "{name} should be (metric name, 'min' or 'max', an integer > 0), as ('accuracy', 'max', 3), "
    "got {value!r}",
)
