"""Layers of `tf.contrib.layers` one upon the other."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1


def repeat(
    inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Calls a layer several times, one upon the other, in scopes `scope/scope_1` and so on."""
    return _upon_each_other(inputs, layer, [args] * repetitions, "Repeat", kwargs)


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
    given = [one if isinstance(one, (list, tuple)) else [one] for one in stack_args]
    return _upon_each_other(inputs, layer, given, "Stack", kwargs)


def _upon_each_other(
    inputs: Any, layer: Any, arguments: Sequence[Any], default: str, further: dict[str, Any]
) -> Any:
    scope = further.pop("scope", None)
    # The name of a layer is that within a `functools.partial`, as `relu` is one.
    name = scope or getattr(getattr(layer, "func", layer), "__name__", default.lower())
    with _v1.variable_scope(scope, default, [inputs]):
        for number, given in enumerate(arguments, 1):
            inputs = layer(inputs, *given, scope=f"{name}_{number}", **further)
    return inputs
