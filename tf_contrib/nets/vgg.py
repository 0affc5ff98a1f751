"""VGG (Simonyan and Zisserman, "Very deep convolutional networks ...", 2014)."""

import tensorflow as tf

from tf_contrib._types import ArgScope
from tf_contrib.nets.chains import (
    Convolution,
    Dense,
    Net,
    Pool,
    chain_arg_scope,
    create_chain,
)

_DEPTHS = (64, 128, 256, 512, 512)


def _create_vgg(name: str, *times: int) -> Net:
    """Creates a net with `times` convolutions before each pooling layer."""
    parts: list[Convolution | Pool] = []
    for number, (depth, count) in enumerate(zip(_DEPTHS, times, strict=True), 1):
        parts += [Convolution(f"conv{number}", depth, 3, count), Pool(f"pool{number}", 2)]
    return create_chain(name, parts, Dense(7, (4096, 4096)), image_size=224)


vgg_a = _create_vgg("vgg_a", 1, 1, 2, 2, 2)
vgg_16 = _create_vgg("vgg_16", 2, 2, 3, 3, 3)
vgg_19 = _create_vgg("vgg_19", 2, 2, 4, 4, 4)
vgg_d, vgg_e = vgg_16, vgg_19


def vgg_arg_scope(weight_decay: float = 0.0005) -> ArgScope:
    """Returns the arg_scope of these nets; see `chain_arg_scope`."""
    return chain_arg_scope(weight_decay, tf.compat.v1.zeros_initializer(), pools=False)
