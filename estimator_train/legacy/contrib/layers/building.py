"""What the layers share: their scope, variables, and what follows their own computation."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.framework import model_variable

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
    if isinstance(collections, dict):
        collections = collections.get(name)
    return model_variable(
        name,
        shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=collections,
    )


def finished(
    outputs: tf.Tensor,
    normalizer_fn: Callable[..., Any] | None,
    normalizer_params: Any,
    bias: Callable[[tf.Tensor], tf.Tensor] | None,
    activation_fn: Callable[..., Any] | None,
    outputs_collections: Any,
) -> tf.Tensor:
    """A layer's output: normalized or with a bias, then activated."""
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    elif bias is not None:
        outputs = bias(outputs)
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collected(outputs, outputs_collections)


def collected(outputs: tf.Tensor, collections: Any) -> tf.Tensor:
    """The same, noted in collections."""
    names = [collections] if isinstance(collections, str) else collections or ()
    for name in names:
        _v1.add_to_collection(name, outputs)
    return outputs
