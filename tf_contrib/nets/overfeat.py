"""OverFeat (Sermanet and others, "OverFeat: Integrated recognition ...", 2013)."""

import tensorflow as tf

from tf_contrib._types import ArgScope
from tf_contrib.nets.alexnet import HIDDEN, OUTPUT
from tf_contrib.nets.chains import (
    Convolution,
    Dense,
    Pool,
    chain_arg_scope,
    create_chain,
)

overfeat = create_chain(
    "overfeat",
    [
        Convolution("conv1", 64, 11, arguments={"stride": 4, "padding": "VALID"}),
        Pool("pool1", 2),
        Convolution("conv2", 256, 5, arguments={"padding": "VALID"}),
        Pool("pool2", 2),
        Convolution("conv3", 512, 3),
        Convolution("conv4", 1024, 3),
        Convolution("conv5", 1024, 3),
        Pool("pool5", 2),
    ],
    Dense(6, (3072, 4096), HIDDEN, OUTPUT),
    # Named by the variable scope: a second call with the same variables shares the collection.
    collection=lambda scope: f"{scope.name}_end_points",
)


def overfeat_arg_scope(weight_decay: float = 0.0005) -> ArgScope:
    """Returns the arg_scope of this net; see `chain_arg_scope`."""
    return chain_arg_scope(weight_decay, tf.compat.v1.zeros_initializer(), pools=True)
