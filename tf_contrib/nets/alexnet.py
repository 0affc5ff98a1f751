"""AlexNet (Krizhevsky, "One weird trick for parallelizing ...", 2014)."""

import tensorflow as tf

from tf_contrib._types import ArgScope
from tf_contrib.nets.chains import (
    Convolution,
    Dense,
    Pool,
    chain_arg_scope,
    create_chain,
)

_v1 = tf.compat.v1

# Initializers of the dense layers of AlexNet and OverFeat, which override the arg_scope.
HIDDEN = {
    "weights_initializer": _v1.truncated_normal_initializer(0.0, 0.005),
    "biases_initializer": _v1.constant_initializer(0.1),
}
OUTPUT = {"biases_initializer": _v1.zeros_initializer()}
alexnet_v2 = create_chain(
    "alexnet_v2",
    [
        Convolution("conv1", 64, 11, arguments={"stride": 4, "padding": "VALID"}),
        Pool("pool1", 3),
        Convolution("conv2", 192, 5),
        Pool("pool2", 3),
        Convolution("conv3", 384, 3),
        Convolution("conv4", 384, 3),
        Convolution("conv5", 256, 3),
        Pool("pool5", 3),
    ],
    Dense(5, (4096, 4096), HIDDEN, OUTPUT),
    image_size=224,
)


def alexnet_v2_arg_scope(weight_decay: float = 0.0005) -> ArgScope:
    """Returns the arg_scope of this net; see `chain_arg_scope`."""
    return chain_arg_scope(weight_decay, _v1.constant_initializer(0.1), pools=True)
