"""What the layers share: their scope, variables, and what follows their own computation."""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.framework.variables import model_variable
from estimator_train.legacy.contrib.layers.utils import (
    collect_named_outputs,
    get_variable_collections,
)

_v1 = tf.compat.v1


@contextlib.contextmanager
def layer_scope(scope: Any, default: str, inputs: Any, reuse: Any) -> Iterator[Any]:
    """The scope of a layer's variables."""
    with _v1.variable_scope(scope, default, [inputs], reuse=reuse) as entered:
        yield entered


def layer_variable(
    name: str,
    shape: Any,
    dtype: Any,
    initializer: Any,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
) -> Any:
    """A variable of a layer.

    Args:
      name: Its name in the layer's scope.
      shape: Its shape.
      dtype: Its type.
      initializer: Of its values.
      regularizer: Its share of the loss, or None.
      trainable: Whether it is trained.
      collections: Further collections, or a dict of names to them.
    """
    return model_variable(
        name,
        shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=get_variable_collections(collections, name),
    )


def bias_of(
    variable: Callable[..., Any], size: int, initializer: Any, regularizer: Any, form: str = "NHWC"
) -> Callable[[tf.Tensor], tf.Tensor] | None:
    """What adds a bias to the channels; None where it has no initializer.

    Args:
      variable: Makes the layer's variables.
      size: How many channels there are.
      initializer: Of the bias.
      regularizer: Of the bias.
      form: Where the channels are: last, or after the examples.
    """
    if initializer is None:
        return None
    biases = variable("biases", [size], initializer=initializer, regularizer=regularizer)
    return functools.partial(tf.nn.bias_add, bias=biases, data_format=form)


def finished(
    outputs: tf.Tensor,
    normalizer_fn: Callable[..., Any] | None,
    normalizer_params: Any,
    bias: Callable[[], Callable[[tf.Tensor], tf.Tensor] | None],
    activation_fn: Callable[..., Any] | None,
    outputs_collections: Any,
    entered: Any,
) -> tf.Tensor:
    """A layer's output: normalized or with a bias, activated, and noted in collections.

    Args:
      outputs: What the layer has computed.
      normalizer_fn: Used instead of a bias.
      normalizer_params: Its arguments.
      bias: Makes what adds the bias.
      activation_fn: Of the output.
      outputs_collections: See `collect_named_outputs`.
      entered: The layer's scope.
    """
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    else:
        add = bias()
        outputs = outputs if add is None else add(outputs)
    return activated(outputs, activation_fn, outputs_collections, entered)


def activated(
    outputs: tf.Tensor, activation_fn: Any, outputs_collections: Any, entered: Any
) -> tf.Tensor:
    """A layer's output, activated and noted in collections; see `finished`."""
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(outputs_collections, entered.name, outputs)
