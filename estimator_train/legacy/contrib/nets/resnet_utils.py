"""What residual nets share (He and others, 2015 and 2016)."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.legacy.contrib import layers
from estimator_train.legacy.contrib.framework.arg_scope import add_arg_scope, arg_scope
from estimator_train.legacy.contrib.layers import utils

_v1 = tf.compat.v1
Net = Callable[..., tuple[tf.Tensor, dict[str, tf.Tensor]]]


class Block(NamedTuple):
    """Units of one size.

    Attributes:
      scope: The block's name.
      unit_fn: A unit, `bottleneck`.
      args: The arguments of each unit.
    """

    scope: str
    unit_fn: Callable[..., tf.Tensor]
    args: list[dict[str, Any]]


def bottleneck_block(
    unit_fn: Callable[..., tf.Tensor], scope: str, base_depth: int, num_units: int, stride: int
) -> Block:
    """A block of bottlenecks, whose last makes the picture smaller.

    Args:
      unit_fn: The bottleneck.
      scope: The block's name.
      base_depth: Channels within the bottleneck; its output has four times as many.
      num_units: How many units.
      stride: Of the last.
    """
    strides = [1] * (num_units - 1) + [stride]
    sizes = {"depth": 4 * base_depth, "depth_bottleneck": base_depth}
    return Block(scope, unit_fn, [{**sizes, "stride": one} for one in strides])


def subsample(inputs: tf.Tensor, factor: int, scope: Any = None) -> tf.Tensor:
    """Every factor-th pixel."""
    if factor == 1:
        return inputs
    return layers.max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(
    inputs: tf.Tensor,
    num_outputs: int,
    kernel_size: int,
    stride: int,
    rate: int = 1,
    scope: Any = None,
) -> tf.Tensor:
    """A convolution whose pixels lie as those of the same with stride 1, subsampled.

    With padding SAME they lie otherwise for pictures of even size.

    Args:
      inputs: Pictures.
      num_outputs: Channels of the output.
      kernel_size: Height and width of the kernel.
      stride: The stride.
      rate: Of a dilated convolution.
      scope: The layer's name.
    """
    made = {"stride": stride, "rate": rate, "scope": scope, "padding": "SAME"}
    if stride > 1:
        border = rate * (kernel_size - 1)
        sides = [border // 2, border - border // 2]
        inputs = tf.pad(inputs, [[0, 0], sides, sides, [0, 0]])
        made["padding"] = "VALID"
    return layers.conv2d(inputs, num_outputs, kernel_size, **made)


@add_arg_scope
def stack_blocks_dense(
    net: tf.Tensor,
    blocks: Sequence[Block],
    output_stride: float | None = None,
    outputs_collections: Any = None,
) -> tf.Tensor:
    """Blocks one upon the other.

    Args:
      net: The first input.
      blocks: The blocks.
      output_stride: How much smaller the output is at most; units from there on are dilated
        instead (Chen and others, "DeepLab", 2016). None: as the blocks say.
      outputs_collections: Collections for the outputs of the blocks.

    Raises:
      ValueError: The strides do not come to output_stride.
    """
    reached, rate = 1, 1
    for block in blocks:
        with _v1.variable_scope(block.scope, "block", [net]) as entered:
            for number, unit in enumerate(block.args, 1):
                dilated = output_stride is not None and reached >= output_stride
                made = {**unit, "stride": 1, "rate": rate} if dilated else {**unit, "rate": 1}
                with _v1.variable_scope(f"unit_{number}", values=[net]):
                    net = block.unit_fn(net, **made)
                rate *= unit["stride"] if dilated else 1
                reached *= 1 if dilated else unit["stride"]
            net = utils.collect_named_outputs(outputs_collections, entered.name, net)
    if output_stride is not None and reached != output_stride:
        raise ValueError("The target output_stride cannot be reached.")
    return net


def resnet_arg_scope(
    weight_decay: float = 0.0001,
    batch_norm_decay: float = 0.997,
    batch_norm_epsilon: float = 1e-5,
    batch_norm_scale: bool = True,
) -> Any:
    """The arguments for residual nets.

    Args:
      weight_decay: Factor of the weights' L2 loss.
      batch_norm_decay: Of the moving means.
      batch_norm_epsilon: Added to variances.
      batch_norm_scale: Whether there is a gamma.

    Returns:
      What `arg_scope` takes.
    """
    normal = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "scale": batch_norm_scale,
        "updates_collections": _v1.GraphKeys.UPDATE_OPS,
    }
    convolved = {
        "weights_regularizer": layers.l2_regularizer(weight_decay),
        "weights_initializer": layers.variance_scaling_initializer(),
        "activation_fn": tf.nn.relu,
        "normalizer_fn": layers.batch_norm,
        "normalizer_params": normal,
    }
    with (
        arg_scope([layers.conv2d], **convolved),
        arg_scope([layers.batch_norm], **normal),
        arg_scope([layers.max_pool2d], padding="SAME") as scope,
    ):
        return scope
