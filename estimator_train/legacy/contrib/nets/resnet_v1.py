"""Residual nets (He and others, "Deep residual learning for image recognition", 2015)."""

from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib import layers
from estimator_train.legacy.contrib.framework.arg_scope import add_arg_scope
from estimator_train.legacy.contrib.layers import utils
from estimator_train.legacy.contrib.nets import resnet_utils
from estimator_train.legacy.contrib.nets.residual import UNITS, of_depth, residual
from estimator_train.legacy.contrib.nets.resnet_utils import resnet_arg_scope as resnet_arg_scope


@add_arg_scope
def bottleneck(
    inputs: tf.Tensor,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: Any = None,
    scope: Any = None,
) -> tf.Tensor:
    """A unit: three convolutions beside a shortcut, activated after their sum.

    Args:
      inputs: Pictures.
      depth: Channels of the output; with others than those of the inputs, the shortcut is a
        convolution.
      depth_bottleneck: Channels in between.
      stride: The stride.
      rate: Of a dilated convolution.
      outputs_collections: Collections for the output.
      scope: The unit's name.

    Raises:
      ValueError: The inputs are no pictures of known depth.
    """
    with tf.compat.v1.variable_scope(scope, "bottleneck_v1", [inputs]) as entered:
        if utils.last_dimension(inputs.shape, min_rank=4) == depth:
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            projected = {"stride": stride, "activation_fn": None, "scope": "shortcut"}
            shortcut = layers.conv2d(inputs, depth, [1, 1], **projected)
        outputs = layers.conv2d(inputs, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        outputs = resnet_utils.conv2d_same(outputs, depth_bottleneck, 3, stride, rate, "conv2")
        last = {"stride": 1, "activation_fn": None, "scope": "conv3"}
        outputs = tf.nn.relu(shortcut + layers.conv2d(outputs, depth, [1, 1], **last))
        return utils.collect_named_outputs(outputs_collections, entered.name, outputs)


def resnet_v1_block(scope: str, base_depth: int, num_units: int, stride: int) -> resnet_utils.Block:
    """A block of these units; see `resnet_utils.bottleneck_block`."""
    return resnet_utils.bottleneck_block(bottleneck, scope, base_depth, num_units, stride)


resnet_v1 = residual("resnet_v1", bottleneck, before=False)
resnet_v1_50, resnet_v1_101, resnet_v1_152, resnet_v1_200 = (
    of_depth(depth, resnet_v1, resnet_v1_block) for depth in UNITS
)
