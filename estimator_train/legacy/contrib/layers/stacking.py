"""Layers of `tf.contrib.layers` one upon the other."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1


def repeat(
    inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Calls a layer several times, one upon the other, in scopes `scope/scope_1` and so on."""
    scope = kwargs.pop("scope", None)
    with _v1.variable_scope(scope, "Repeat", [inputs]):
        name = scope or _name(layer, "repeat")
        for number in range(repetitions):
            inputs = layer(inputs, *args, scope=f"{name}_{number + 1}", **kwargs)
    return inputs


def stack(inputs: Any, layer: Callable[..., Any], stack_args: Sequence[Any], **kwargs: Any) -> Any:
    """Calls a layer once for each of several arguments, one upon the other.

    Args:
      inputs: The first input.
      layer: The layer.
      stack_args: Its arguments, a list or tuple or one, for each call.
      **kwargs: Further arguments of all calls.

    Raises:
      ValueError: stack_args is no list or tuple.
    """
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    scope = kwargs.pop("scope", None)
    with _v1.variable_scope(scope, "Stack", [inputs]):
        name = scope or _name(layer, "stack")
        for number, given in enumerate(stack_args):
            given = given if isinstance(given, (list, tuple)) else [given]
            inputs = layer(inputs, *given, scope=f"{name}_{number + 1}", **kwargs)
    return inputs


def _name(layer: Any, otherwise: str) -> str:
    """The name of a layer; of that within a `functools.partial`, as `relu` is one."""
    layer = getattr(layer, "func", layer)
    return getattr(layer, "__name__", otherwise)
