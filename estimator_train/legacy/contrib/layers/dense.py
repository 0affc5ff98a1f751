"""Dense layers of `tf.contrib.layers`."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.framework.arg_scope import add_arg_scope
from estimator_train.legacy.contrib.layers.building import (
    activated,
    built,
    layer_scope,
    layer_variable,
)
from estimator_train.legacy.contrib.layers.initializers import xavier_initializer

_v1 = tf.compat.v1
_Keys = _v1.GraphKeys
_XAVIER = xavier_initializer()
_ZEROS = _v1.zeros_initializer()


@add_arg_scope
def fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Callable[..., Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Any = None,
    weights_initializer: Any = _XAVIER,
    weights_regularizer: Any = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tf.Tensor:
    """A dense layer on the last dimension; its variables are `weights` and `biases`.

    Args:
      inputs: A tensor of rank 2 or more.
      num_outputs: Size of the last dimension of the output.
      activation_fn: Of the output, or None.
      normalizer_fn: Used instead of biases.
      normalizer_params: Its arguments.
      weights_initializer: Of the weights; None: the scope's.
      weights_regularizer: Of the weights.
      biases_initializer: Of the biases; None: there are none.
      biases_regularizer: Of the biases.
      reuse: Whether the layer's variables are there already.
      variables_collections: Collections for the variables.
      outputs_collections: Collections for the output.
      trainable: Whether the variables are trained.
      scope: The layer's name.

    Raises:
      ValueError: num_outputs is no whole number, or the inputs have no dimension for it.
    """
    given = dict(locals())
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs should be a whole number, got {num_outputs}")
    inputs = tf.convert_to_tensor(inputs)

    def multiplied(kernel: Callable[..., Any]) -> tf.Tensor:
        weights = kernel("weights", [inputs.shape[-1], num_outputs])
        return tf.tensordot(inputs, weights, 1) if inputs.shape.rank > 2 else inputs @ weights

    return built("fully_connected", inputs, num_outputs, multiplied, given)


relu = functools.partial(fully_connected, activation_fn=tf.nn.relu)
relu6 = functools.partial(fully_connected, activation_fn=tf.nn.relu6)
elu = functools.partial(fully_connected, activation_fn=tf.nn.elu)
linear = functools.partial(fully_connected, activation_fn=None)


@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Any = None,
    initializer: Any = _ZEROS,
    regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> tf.Tensor:
    """Adds a bias to the channels; see `fully_connected`."""
    inputs = tf.convert_to_tensor(inputs)
    with layer_scope(scope, "BiasAdd", inputs, reuse) as entered:
        size = inputs.shape[1 if data_format == "NCHW" else -1]
        made = (inputs.dtype.base_dtype, initializer, regularizer, trainable)
        biases = layer_variable("biases", [size], *made, variables_collections)
        outputs = tf.nn.bias_add(inputs, biases, data_format)
        return activated(outputs, activation_fn, outputs_collections, entered)


@add_arg_scope
def legacy_fully_connected(
    x: Any,
    num_output_units: int,
    activation_fn: Callable[..., Any] | None = None,
    weight_init: Any = _XAVIER,
    bias_init: Any = _ZEROS,
    name: Any = None,
    weight_collections: Sequence[str] = (_Keys.WEIGHTS,),
    bias_collections: Sequence[str] = (_Keys.BIASES,),
    output_collections: Sequence[str] = (_Keys.ACTIVATIONS,),
    trainable: bool = True,
    weight_regularizer: Any = None,
    bias_regularizer: Any = None,
) -> tf.Tensor:
    """An older dense layer; its variables are `weights` and `bias`, and none of the model's.

    Arguments are those of `fully_connected` by older names. The collections are further ones for
    the weights and the bias, and those for the output.
    """
    x = tf.convert_to_tensor(x)
    with _v1.variable_scope(name, "fully_connected", [x]):
        variable = functools.partial(_v1.get_variable, dtype=x.dtype, trainable=trainable)
        weights = variable(
            "weights",
            [x.shape[-1], num_output_units],
            initializer=weight_init,
            regularizer=weight_regularizer,
            collections=[*weight_collections, _Keys.GLOBAL_VARIABLES],
        )
        outputs = tf.tensordot(x, weights, 1) if x.shape.rank > 2 else x @ weights
        if bias_init is not None:
            outputs += variable(
                "bias",
                [num_output_units],
                initializer=bias_init,
                regularizer=bias_regularizer,
                collections=[*bias_collections, _Keys.GLOBAL_VARIABLES],
            )
        outputs = outputs if activation_fn is None else activation_fn(outputs)
        _v1.add_to_collections(output_collections, outputs)
        return outputs


legacy_linear = functools.partial(legacy_fully_connected, activation_fn=None)
legacy_relu = functools.partial(legacy_fully_connected, activation_fn=tf.nn.relu)
