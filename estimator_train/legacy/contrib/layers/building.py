"""What the layers share: their scope, variables, and what follows their own computation."""

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
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
    collections = get_variable_collections(collections, name)
    return model_variable(**locals())


def built(
    default: str,
    inputs: tf.Tensor,
    size: int,
    compute: Callable[[Callable[..., Any]], tf.Tensor],
    given: Mapping[str, Any],
    form: str = "NHWC",
) -> tf.Tensor:
    """The output of a layer with weights: normalized or with a bias, and activated.

    Args:
      default: Its name, if it is given none.
      inputs: Its input.
      size: How many channels its output has.
      compute: From what makes weights, of a name and a shape, to what the layer computes.
      given: The layer's arguments by their names; see `fully_connected`.
      form: Where the channels are: last, or after the examples.
    """
    collections = given["variables_collections"]
    variable = functools.partial(
        layer_variable, dtype=inputs.dtype.base_dtype, trainable=given["trainable"]
    )
    weights = functools.partial(
        variable,
        initializer=given["weights_initializer"],
        regularizer=given["weights_regularizer"],
        collections=get_variable_collections(collections, "weights"),
    )
    with layer_scope(given["scope"], default, inputs, given["reuse"]) as entered:
        outputs = compute(weights)
        if given["normalizer_fn"] is not None:
            outputs = given["normalizer_fn"](outputs, **(given["normalizer_params"] or {}))
        elif given["biases_initializer"] is not None:
            biases = variable(
                "biases",
                [size],
                initializer=given["biases_initializer"],
                regularizer=given["biases_regularizer"],
                collections=collections,
            )
            outputs = tf.nn.bias_add(outputs, biases, form)
        return activated(outputs, given["activation_fn"], given["outputs_collections"], entered)


def activated(
    outputs: tf.Tensor, activation_fn: Any, outputs_collections: Any, entered: Any
) -> tf.Tensor:
    """A layer's output, activated and noted in collections; see `collect_named_outputs`."""
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(outputs_collections, entered.name, outputs)
