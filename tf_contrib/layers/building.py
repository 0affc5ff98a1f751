"""Steps that all layers share: their scope, their variables, normalization and activation."""

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from tf_contrib._types import (
    Collections,
    DType,
    Initializer,
    Regularizer,
    Scope,
    Shape,
    TensorLike,
    VariableCollections,
)
from tf_contrib.framework.variables import model_variable
from tf_contrib.layers.utils import (
    collect_named_outputs,
    get_variable_collections,
)

_v1 = tf.compat.v1


@contextlib.contextmanager
def layer_scope(
    scope: Scope | None, default_name: str, inputs: TensorLike, reuse: bool | None
) -> Iterator[Any]:
    """Opens the variable scope of a layer."""
    with _v1.variable_scope(scope, default_name, [inputs], reuse=reuse) as variable_scope:
        yield variable_scope


def layer_variable(
    name: str,
    shape: Shape,
    dtype: DType,
    initializer: Initializer | None,
    regularizer: Regularizer | None = None,
    trainable: bool = True,
    collections: VariableCollections | None = None,
) -> tf.Variable:
    """Creates a variable of a layer.

    Args:
      name: Name in the scope of the layer.
      shape: Shape of the variable.
      dtype: Type of the variable.
      initializer: Initializer; None: that of the scope.
      regularizer: Regularizer, or None.
      trainable: Whether the variable is trained.
      collections: Further collections, or a dict of names to collections.
    """
    collections = get_variable_collections(collections, name)
    return model_variable(**locals())


def build_layer(
    default_name: str,
    inputs: tf.Tensor,
    size: int,
    compute_outputs: Callable[[Callable[..., Any]], tf.Tensor],
    arguments: Mapping[str, Any],
    data_format: str = "NHWC",
) -> tf.Tensor:
    """Builds a layer with weights: computes its outputs, normalizes or adds biases, and activates.

    Args:
      default_name: Default name of the scope.
      inputs: Inputs of the layer.
      size: Number of output channels.
      compute_outputs: Function that computes the outputs; its argument is a function that creates
        weights of a name and a shape.
      arguments: Arguments of the layer by name; see `fully_connected`.
      data_format: Position of the channels: last, or after the examples.
    """
    collections = arguments["variables_collections"]
    variable = functools.partial(
        layer_variable, dtype=inputs.dtype.base_dtype, trainable=arguments["trainable"]
    )
    weights = functools.partial(
        variable,
        initializer=arguments["weights_initializer"],
        regularizer=arguments["weights_regularizer"],
        collections=get_variable_collections(collections, "weights"),
    )
    with layer_scope(
        arguments["scope"], default_name, inputs, arguments["reuse"]
    ) as variable_scope:
        outputs = compute_outputs(weights)
        if arguments["normalizer_fn"] is not None:
            outputs = arguments["normalizer_fn"](outputs, **(arguments["normalizer_params"] or {}))
        elif arguments["biases_initializer"] is not None:
            biases = variable(
                "biases",
                [size],
                initializer=arguments["biases_initializer"],
                regularizer=arguments["biases_regularizer"],
                collections=collections,
            )
            outputs = tf.nn.bias_add(outputs, biases, data_format)
        return activate_and_collect(
            outputs, arguments["activation_fn"], arguments["outputs_collections"], variable_scope
        )


def activate_and_collect(
    outputs: tf.Tensor,
    activation_fn: Callable[..., tf.Tensor] | None,
    outputs_collections: Collections | None,
    variable_scope: tf.compat.v1.VariableScope,
) -> tf.Tensor:
    """Applies the activation and adds the outputs to collections; see `collect_named_outputs`."""
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(outputs_collections, variable_scope.name, outputs)
