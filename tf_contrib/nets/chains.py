"""Nets that are a chain of convolutions and pooling layers, followed by three dense layers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from tf_contrib import layers
from tf_contrib._types import (
    ArgScope,
    Condition,
    Initializer,
    Scope,
    TensorLike,
)
from tf_contrib.framework.arg_scope import arg_scope
from tf_contrib.layers import utils

_v1 = tf.compat.v1
Net = Callable[..., tuple[tf.Tensor, dict[str, tf.Tensor]]]


class Convolution(NamedTuple):
    """One or more convolutions of a chain.

    Attributes:
      name: Scope of the convolutions.
      depth: Number of output channels.
      kernel: Height and width of the kernel.
      times: Number of convolutions; None: one, without a number in its scope.
      arguments: Further arguments of the layer.
    """

    name: str
    depth: int
    kernel: int
    times: int | None = None
    arguments: Mapping[str, Any] = {}


class Pool(NamedTuple):
    """Max pooling with a stride of 2; see `Convolution`."""

    name: str
    kernel: int


class Dense(NamedTuple):
    """Dense layers at the end of a chain.

    Attributes:
      kernel: Height and width of the input of these layers, for images of the default size.
      depths: Sizes of the first two layers; the third has one output for each class.
      hidden: Arguments of the first two layers.
      last: Arguments of the third layer.
    """

    kernel: int
    depths: tuple[int, int]
    hidden: Mapping[str, Any] = {}
    last: Mapping[str, Any] = {}


def create_chain(
    name: str,
    parts: Sequence[Convolution | Pool],
    dense: Dense,
    image_size: int | None = None,
    collection: Callable[[Any], str] = lambda scope: f"{scope.original_name_scope}_end_points",
) -> Net:
    """Creates a net as a function.

    Args:
      name: Name of the function, and default of its scope.
      parts: Convolutions and pooling layers.
      dense: Dense layers.
      image_size: Default image size, the attribute `default_image_size` of the function.
      collection: Function of the net's scope that returns the collection of its outputs.
    """

    def net(
        inputs: TensorLike,
        num_classes: int = 1000,
        is_training: Condition = True,
        dropout_keep_prob: float = 0.5,
        spatial_squeeze: bool = True,
        scope: Scope = name,
    ) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
        with _v1.variable_scope(scope, name, [inputs]) as net_scope:
            collected_layers = [layers.conv2d, layers.fully_connected, layers.max_pool2d]
            points_collection = collection(net_scope)
            with arg_scope(collected_layers, outputs_collections=points_collection):
                outputs = _apply_convolutions(inputs, parts)
                outputs = _apply_dense_layers(
                    outputs, dense, num_classes, dropout_keep_prob, is_training
                )
            end_points = utils.convert_collection_to_dict(points_collection)
            if spatial_squeeze:
                outputs = tf.squeeze(outputs, [1, 2], name="fc8/squeezed")
                end_points[f"{net_scope.name}/fc8"] = outputs
            return outputs, end_points

    net.__name__ = net.__qualname__ = name
    net.__doc__ = _DOCUMENTATION.format(name)
    if image_size:
        vars(net)["default_image_size"] = image_size
    return net


_DOCUMENTATION = """Computes the net {}.

Args:
  inputs: Images, (batch, height, width, channels).
  num_classes: Number of classes.
  is_training: Whether to apply dropout.
  dropout_keep_prob: Probability that dropout keeps a unit.
  spatial_squeeze: Whether to remove height and width, which must be 1, from the logits.
  scope: Variable scope of the net.

Returns:
  The logits and the outputs of all layers by name.
"""


def _apply_convolutions(outputs: tf.Tensor, parts: Sequence[Convolution | Pool]) -> tf.Tensor:
    for part in parts:
        window = [part.kernel, part.kernel]
        if isinstance(part, Pool):
            outputs = layers.max_pool2d(outputs, window, 2, scope=part.name)
            continue
        layer_arguments = {"scope": part.name, **part.arguments}
        if part.times is None:
            outputs = layers.conv2d(outputs, part.depth, window, **layer_arguments)
        else:
            outputs = layers.repeat(
                outputs, part.times, layers.conv2d, part.depth, window, **layer_arguments
            )
    return outputs


def _apply_dense_layers(
    outputs: tf.Tensor, dense: Dense, num_classes: int, keep_prob: float, is_training: Condition
) -> tf.Tensor:
    """Applies dense layers as convolutions: larger images give a map of logits."""
    first, second = dense.depths
    with arg_scope([layers.conv2d], **dense.hidden):
        for name, depth, kernel in (("6", first, dense.kernel), ("7", second, 1)):
            size = {"padding": "VALID"} if name == "6" else {}
            outputs = layers.conv2d(outputs, depth, [kernel, kernel], scope=f"fc{name}", **size)
            dropout_arguments = {"is_training": is_training, "scope": f"dropout{name}"}
            outputs = layers.dropout(outputs, keep_prob, **dropout_arguments)
        output_arguments = {"activation_fn": None, "normalizer_fn": None, **dense.last}
        return layers.conv2d(outputs, num_classes, [1, 1], scope="fc8", **output_arguments)


def chain_arg_scope(weight_decay: float, bias: Initializer, pools: bool) -> ArgScope:
    """Returns the arg_scope of a chain.

    Args:
      weight_decay: Factor of the L2 loss of the weights.
      bias: Initializer of the biases.
      pools: Whether pooling layers have padding VALID.

    Returns:
      A scope for `arg_scope`.
    """
    layer_arguments = {
        "activation_fn": tf.nn.relu,
        "weights_regularizer": layers.l2_regularizer(weight_decay),
        "biases_initializer": bias,
    }
    with (
        arg_scope([layers.conv2d, layers.fully_connected], **layer_arguments),
        arg_scope([layers.conv2d], padding="SAME") as scope,
    ):
        if not pools:
            return scope
        with arg_scope([layers.max_pool2d], padding="VALID") as scope:
            return scope
