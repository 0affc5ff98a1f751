"""VGG (Simonyan and Zisserman, "Very deep convolutional networks ...", 2014)."""

from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.nets.chains import (
    Convolution,
    Dense,
    Net,
    Pool,
    chain,
    chain_arg_scope,
)

_DEPTHS = (64, 128, 256, 512, 512)


def _vgg(name: str, *times: int) -> Net:
    """The net with so many convolutions before each pool."""
    parts: list[Convolution | Pool] = []
    for number, (depth, count) in enumerate(zip(_DEPTHS, times, strict=True), 1):
        parts += [Convolution(f"conv{number}", depth, 3, count), Pool(f"pool{number}", 2)]
    return chain(name, parts, Dense(7, (4096, 4096)), image_size=224)


vgg_a = _vgg("vgg_a", 1, 1, 2, 2, 2)
vgg_16 = _vgg("vgg_16", 2, 2, 3, 3, 3)
vgg_19 = _vgg("vgg_19", 2, 2, 4, 4, 4)
vgg_d, vgg_e = vgg_16, vgg_19


def vgg_arg_scope(weight_decay: float = 0.0005) -> Any:
    """The arguments for these nets; see `chain_arg_scope`."""
    return chain_arg_scope(weight_decay, tf.compat.v1.zeros_initializer(), pools=False)
