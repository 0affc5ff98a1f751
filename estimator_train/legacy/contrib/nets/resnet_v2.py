"""Residual nets that activate first (He and others, "Identity mappings in ...", 2016)."""

from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib import layers
from estimator_train.legacy.contrib.framework.arg_scope import add_arg_scope
from estimator_train.legacy.contrib.layers import utils
from estimator_train.legacy.contrib.nets import resnet_utils
from estimator_train.legacy.contrib.nets.residual import UNITS, of_depth, residual
from estimator_train.legacy.contrib.nets.resnet_utils import resnet_arg_scope as resnet_arg_scope

_PLAIN = {"activation_fn": None, "normalizer_fn": None}


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
    """A unit that normalizes and activates its inputs; see `resnet_v1.bottleneck`."""
    with tf.compat.v1.variable_scope(scope, "bottleneck_v2", [inputs]) as entered:
        same = utils.last_dimension(inputs.shape, min_rank=4) == depth
        ready = layers.batch_norm(inputs, activation_fn=tf.nn.relu, scope="preact")
        if same:
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            projected = {"stride": stride, "scope": "shortcut", **_PLAIN}
            shortcut = layers.conv2d(ready, depth, [1, 1], **projected)
        outputs = layers.conv2d(ready, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        outputs = resnet_utils.conv2d_same(outputs, depth_bottleneck, 3, stride, rate, "conv2")
        outputs = layers.conv2d(outputs, depth, [1, 1], stride=1, scope="conv3", **_PLAIN)
        outputs = shortcut + outputs
        return utils.collect_named_outputs(outputs_collections, entered.name, outputs)


def resnet_v2_block(scope: str, base_depth: int, num_units: int, stride: int) -> resnet_utils.Block:
    """A block of these units; see `resnet_utils.bottleneck_block`."""
    return resnet_utils.bottleneck_block(bottleneck, scope, base_depth, num_units, stride)


resnet_v2 = residual("resnet_v2", bottleneck, before=True)
resnet_v2_50, resnet_v2_101, resnet_v2_152, resnet_v2_200 = (
    of_depth(depth, resnet_v2, resnet_v2_block) for depth in UNITS
)
