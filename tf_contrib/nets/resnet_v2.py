"""Residual nets that activate first (He et al., "Identity mappings in ...", 2016)."""

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

_LINEAR = {"activation_fn": None, "normalizer_fn": None}


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
    """Computes a unit that normalizes and activates its inputs; see `resnet_v1.bottleneck`."""
    with tf.compat.v1.variable_scope(scope, "bottleneck_v2", [inputs]) as unit_scope:
        keeps_depth = utils.last_dimension(inputs.shape, min_rank=4) == depth
        activated_inputs = layers.batch_norm(inputs, activation_fn=tf.nn.relu, scope="preact")
        if keeps_depth:
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut_arguments = {"stride": stride, "scope": "shortcut", **_LINEAR}
            shortcut = layers.conv2d(activated_inputs, depth, [1, 1], **shortcut_arguments)
        outputs = layers.conv2d(activated_inputs, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        outputs = resnet_utils.conv2d_same(outputs, depth_bottleneck, 3, stride, rate, "conv2")
        outputs = layers.conv2d(outputs, depth, [1, 1], stride=1, scope="conv3", **_LINEAR)
        outputs = shortcut + outputs
        return utils.collect_named_outputs(outputs_collections, unit_scope.name, outputs)


def resnet_v2_block(scope: str, base_depth: int, num_units: int, stride: int) -> resnet_utils.Block:
    """Creates a block of these units; see `resnet_utils.bottleneck_block`."""
    return resnet_utils.bottleneck_block(bottleneck, scope, base_depth, num_units, stride)


resnet_v2 = create_residual_net("resnet_v2", bottleneck, activates_inputs=True)
resnet_v2_50, resnet_v2_101, resnet_v2_152, resnet_v2_200 = (
    create_net_of_depth(depth, resnet_v2, resnet_v2_block) for depth in UNITS
)
