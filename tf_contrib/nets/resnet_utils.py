"""Parts that residual nets share (He et al., 2015 and 2016)."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from tf_contrib import layers
from tf_contrib._types import ArgScope, Collections, Scope
from tf_contrib.framework.arg_scope import add_arg_scope, arg_scope
from tf_contrib.layers import utils

_v1 = tf.compat.v1
Net = Callable[..., tuple[tf.Tensor, dict[str, tf.Tensor]]]


class Block(NamedTuple):
    """Units of one size.

    Attributes:
      scope: Name of the block.
      unit_fn: Unit, `bottleneck`.
      args: Arguments of each unit.
    """

    scope: str
    unit_fn: Callable[..., tf.Tensor]
    args: list[dict[str, Any]]


def bottleneck_block(
    unit_fn: Callable[..., tf.Tensor], scope: str, base_depth: int, num_units: int, stride: int
) -> Block:
    """Creates a block of bottlenecks, the last of which applies the stride.

    Args:
      unit_fn: Bottleneck.
      scope: Name of the block.
      base_depth: Channels in the bottleneck; the output has four times as many.
      num_units: Number of units.
      stride: Stride of the last unit.
    """
    strides = [1] * (num_units - 1) + [stride]
    sizes = {"depth": 4 * base_depth, "depth_bottleneck": base_depth}
    return Block(scope, unit_fn, [{**sizes, "stride": unit_stride} for unit_stride in strides])


def subsample(inputs: tf.Tensor, factor: int, scope: Scope | None = None) -> tf.Tensor:
    """Returns every factor-th pixel."""
    if factor == 1:
        return inputs
    return layers.max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(
    inputs: tf.Tensor,
    num_outputs: int,
    kernel_size: int,
    stride: int,
    rate: int = 1,
    scope: Scope | None = None,
) -> tf.Tensor:
    """Computes a convolution that equals a subsampled convolution of stride 1.

    With padding SAME, the pixels of images of even size would be shifted.

    Args:
      inputs: Images.
      num_outputs: Number of output channels.
      kernel_size: Height and width of the kernel.
      stride: Stride.
      rate: Dilation rate.
      scope: Name of the layer.
    """
    arguments = {"stride": stride, "rate": rate, "scope": scope, "padding": "SAME"}
    if stride > 1:
        border = rate * (kernel_size - 1)
        sides = [border // 2, border - border // 2]
        inputs = tf.pad(inputs, [[0, 0], sides, sides, [0, 0]])
        arguments["padding"] = "VALID"
    return layers.conv2d(inputs, num_outputs, kernel_size, **arguments)


@add_arg_scope
def stack_blocks_dense(
    net: tf.Tensor,
    blocks: Sequence[Block],
    output_stride: float | None = None,
    outputs_collections: Collections | None = None,
) -> tf.Tensor:
    """Applies blocks one after another.

    Args:
      net: Inputs of the first block.
      blocks: Blocks.
      output_stride: Maximum ratio of input to output size; units beyond it are dilated instead
        (Chen et al., "DeepLab", 2016). None: no maximum.
      outputs_collections: Collections of the outputs of the blocks.

    Raises:
      ValueError: The strides of the blocks cannot reach output_stride.
    """
    current_stride, rate = 1, 1
    for block in blocks:
        with _v1.variable_scope(block.scope, "block", [net]) as block_scope:
            for number, unit in enumerate(block.args, 1):
                is_dilated = output_stride is not None and current_stride >= output_stride
                arguments = (
                    {**unit, "stride": 1, "rate": rate} if is_dilated else {**unit, "rate": 1}
                )
                with _v1.variable_scope(f"unit_{number}", values=[net]):
                    net = block.unit_fn(net, **arguments)
                rate *= unit["stride"] if is_dilated else 1
                current_stride *= 1 if is_dilated else unit["stride"]
            net = utils.collect_named_outputs(outputs_collections, block_scope.name, net)
    if output_stride is not None and current_stride != output_stride:
        raise ValueError("The target output_stride cannot be reached.")
    return net


def resnet_arg_scope(
    weight_decay: float = 0.0001,
    batch_norm_decay: float = 0.997,
    batch_norm_epsilon: float = 1e-5,
    batch_norm_scale: bool = True,
) -> ArgScope:
    """Returns the arg_scope of residual nets.

    Args:
      weight_decay: Factor of the L2 loss of the weights.
      batch_norm_decay: Decay of the moving averages.
      batch_norm_epsilon: Number added to variances.
      batch_norm_scale: Whether to multiply by gamma.

    Returns:
      A scope for `arg_scope`.
    """
    batch_norm_arguments = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "scale": batch_norm_scale,
        "updates_collections": _v1.GraphKeys.UPDATE_OPS,
    }
    convolution_arguments = {
        "weights_regularizer": layers.l2_regularizer(weight_decay),
        "weights_initializer": layers.variance_scaling_initializer(),
        "activation_fn": tf.nn.relu,
        "normalizer_fn": layers.batch_norm,
        "normalizer_params": batch_norm_arguments,
    }
    with (
        arg_scope([layers.conv2d], **convolution_arguments),
        arg_scope([layers.batch_norm], **batch_norm_arguments),
        arg_scope([layers.max_pool2d], padding="SAME") as scope,
    ):
        return scope
