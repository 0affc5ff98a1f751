"""Stand-in for `tf.contrib.slim.nets`: image nets that restore the checkpoints of slim."""

from tf_contrib.nets import (
    alexnet,
    inception,
    overfeat,
    resnet_utils,
    resnet_v1,
    resnet_v2,
    vgg,
)

__all__ = ["alexnet", "inception", "overfeat", "resnet_utils", "resnet_v1", "resnet_v2", "vgg"]
