"""Dense layers of `tf.contrib.layers`."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import (
    Collections,
    Initializer,
    Regularizer,
    Scope,
    TensorLike,
    VariableCollections,
)
from tf_contrib.framework.arg_scope import add_arg_scope
from tf_contrib.layers.building import (
    activate_and_collect,
    build_layer,
    layer_scope,
    layer_variable,
)
from tf_contrib.layers.initializers import xavier_initializer

_v1 = tf.compat.v1
_Keys = _v1.GraphKeys
_XAVIER = xavier_initializer()
_ZEROS = _v1.zeros_initializer()


@add_arg_scope
def fully_connected(
    inputs: TensorLike,
    num_outputs: int,
    activation_fn: Callable[..., Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Initializer = _XAVIER,
    weights_regularizer: Regularizer | None = None,
    biases_initializer: Initializer = _ZEROS,
    biases_regularizer: Regularizer | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections | None = None,
    outputs_collections: Collections | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
) -> tf.Tensor:
    """Computes a dense layer on the last dimension; its variables are `weights` and `biases`.

    Args:
      inputs: Tensor of rank 2 or more.
      num_outputs: Size of the last output dimension.
      activation_fn: Function to apply to the outputs, or None.
      normalizer_fn: Function to apply instead of biases.
      normalizer_params: Arguments of normalizer_fn.
      weights_initializer: Initializer of the weights; None: that of the scope.
      weights_regularizer: Regularizer of the weights.
      biases_initializer: Initializer of the biases; None: no biases.
      biases_regularizer: Regularizer of the biases.
      reuse: Whether to reuse existing variables.
      variables_collections: Collections of the variables.
      outputs_collections: Collections of the outputs.
      trainable: Whether the variables are trained.
      scope: Variable scope of the layer.

    Raises:
      ValueError: num_outputs is not an integer, or the inputs have no dimension of known size.
    """
    arguments = dict(locals())
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs must be an integer, got {num_outputs}")
    inputs = tf.convert_to_tensor(inputs)

    def compute_outputs(kernel: Callable[..., Any]) -> tf.Tensor:
        weights = kernel("weights", [inputs.shape[-1], num_outputs])
        return tf.tensordot(inputs, weights, 1) if inputs.shape.rank > 2 else inputs @ weights

    return build_layer("fully_connected", inputs, num_outputs, compute_outputs, arguments)


relu = functools.partial(fully_connected, activation_fn=tf.nn.relu)
relu6 = functools.partial(fully_connected, activation_fn=tf.nn.relu6)
elu = functools.partial(fully_connected, activation_fn=tf.nn.elu)
linear = functools.partial(fully_connected, activation_fn=None)


@add_arg_scope
def bias_add(
    inputs: TensorLike,
    activation_fn: Callable[..., tf.Tensor] | None = None,
    initializer: Initializer = _ZEROS,
    regularizer: Regularizer | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections | None = None,
    outputs_collections: Collections | None = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Scope | None = None,
) -> tf.Tensor:
    """Adds a bias to each channel; see `fully_connected`."""
    inputs = tf.convert_to_tensor(inputs)
    with layer_scope(scope, "BiasAdd", inputs, reuse) as variable_scope:
        size = inputs.shape[1 if data_format == "NCHW" else -1]
        settings = (inputs.dtype.base_dtype, initializer, regularizer, trainable)
        biases = layer_variable("biases", [size], *settings, variables_collections)
        outputs = tf.nn.bias_add(inputs, biases, data_format)
        return activate_and_collect(outputs, activation_fn, outputs_collections, variable_scope)


@add_arg_scope
def legacy_fully_connected(
    x: TensorLike,
    num_output_units: int,
    activation_fn: Callable[..., Any] | None = None,
    weight_init: Initializer = _XAVIER,
    bias_init: Initializer = _ZEROS,
    name: str | None = None,
    weight_collections: Sequence[str] = (_Keys.WEIGHTS,),
    bias_collections: Sequence[str] = (_Keys.BIASES,),
    output_collections: Sequence[str] = (_Keys.ACTIVATIONS,),
    trainable: bool = True,
    weight_regularizer: Regularizer | None = None,
    bias_regularizer: Regularizer | None = None,
) -> tf.Tensor:
    """Computes a dense layer whose variables `weights` and `bias` are not in MODEL_VARIABLES.

    The arguments are those of `fully_connected` under older names. The collections are further
    collections of the weights and the bias, and the collections of the outputs.
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
