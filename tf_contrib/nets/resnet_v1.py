"""Residual nets (He et al., "Deep residual learning for image recognition", 2015)."""

import tensorflow as tf

from tf_contrib import layers
from tf_contrib._types import Collections, Scope
from tf_contrib.framework.arg_scope import add_arg_scope
from tf_contrib.layers import utils
from tf_contrib.nets import resnet_utils
from tf_contrib.nets.residual import (
    UNITS,
    create_net_of_depth,
    create_residual_net,
)
from tf_contrib.nets.resnet_utils import resnet_arg_scope as resnet_arg_scope


@add_arg_scope
def bottleneck(
    inputs: tf.Tensor,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: Collections | None = None,
    scope: Scope | None = None,
) -> tf.Tensor:
    """Computes a unit: three convolutions and a shortcut, whose sum is activated.

    Args:
      inputs: Images.
      depth: Number of output channels; if it differs from that of the inputs, the shortcut is a
        convolution.
      depth_bottleneck: Number of channels in between.
      stride: Stride.
      rate: Dilation rate.
      outputs_collections: Collections of the output.
      scope: Variable scope of the unit.

    Raises:
      ValueError: The inputs are not images of known depth.
    """
    with tf.compat.v1.variable_scope(scope, "bottleneck_v1", [inputs]) as unit_scope:
        if utils.last_dimension(inputs.shape, min_rank=4) == depth:
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut_arguments = {"stride": stride, "activation_fn": None, "scope": "shortcut"}
            shortcut = layers.conv2d(inputs, depth, [1, 1], **shortcut_arguments)
        outputs = layers.conv2d(inputs, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        outputs = resnet_utils.conv2d_same(outputs, depth_bottleneck, 3, stride, rate, "conv2")
        output_arguments = {"stride": 1, "activation_fn": None, "scope": "conv3"}
        outputs = tf.nn.relu(shortcut + layers.conv2d(outputs, depth, [1, 1], **output_arguments))
        return utils.collect_named_outputs(outputs_collections, unit_scope.name, outputs)


def resnet_v1_block(scope: str, base_depth: int, num_units: int, stride: int) -> resnet_utils.Block:
    """Creates a block of these units; see `resnet_utils.bottleneck_block`."""
    return resnet_utils.bottleneck_block(bottleneck, scope, base_depth, num_units, stride)


resnet_v1 = create_residual_net("resnet_v1", bottleneck, activates_inputs=False)
resnet_v1_50, resnet_v1_101, resnet_v1_152, resnet_v1_200 = (
    create_net_of_depth(depth, resnet_v1, resnet_v1_block) for depth in UNITS
)
