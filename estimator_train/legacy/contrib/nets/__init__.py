"""`tf.contrib.slim.nets`: known nets for pictures, with the variables of their checkpoints."""

from estimator_train.legacy.contrib.nets import (
    alexnet,
    inception,
    overfeat,
    resnet_utils,
    resnet_v1,
    resnet_v2,
    vgg,
)

__all__ = ["alexnet", "inception", "overfeat", "resnet_utils", "resnet_v1", "resnet_v2", "vgg"]
