"""Functions of `tf.contrib.layers` that stack layers."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import TensorLike

_v1 = tf.compat.v1


def repeat(
    inputs: TensorLike, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any
) -> tf.Tensor:
    """Stacks a layer several times, in scopes `scope/scope_1` and so on."""
    return _stack_layers(inputs, layer, [args] * repetitions, "Repeat", kwargs)


def stack(
    inputs: TensorLike, layer: Callable[..., Any], stack_args: Sequence[Any], **kwargs: Any
) -> tf.Tensor:
    """Stacks a layer once for each element of stack_args.

    Args:
      inputs: Inputs of the first layer.
      layer: Function of the layer.
      stack_args: Positional arguments of each call: a list, a tuple, or a single argument.
      **kwargs: Keyword arguments of all calls.

    Raises:
      ValueError: stack_args is neither a list nor a tuple.
    """
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    layer_arguments = [one if isinstance(one, (list, tuple)) else [one] for one in stack_args]
    return _stack_layers(inputs, layer, layer_arguments, "Stack", kwargs)


def _stack_layers(
    inputs: TensorLike,
    layer: Callable[..., Any],
    arguments: Sequence[Any],
    default_name: str,
    common_arguments: dict[str, Any],
) -> tf.Tensor:
    scope = common_arguments.pop("scope", None)
    # `relu` is a functools.partial, so the name is that of the function in it.
    name = scope or getattr(getattr(layer, "func", layer), "__name__", default_name.lower())
    with _v1.variable_scope(scope, default_name, [inputs]):
        for number, layer_arguments in enumerate(arguments, 1):
            inputs = layer(inputs, *layer_arguments, scope=f"{name}_{number}", **common_arguments)
    return inputs
