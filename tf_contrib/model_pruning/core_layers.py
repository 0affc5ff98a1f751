"""Layers of `tf.layers` whose kernel has a mask, and the names of the collections."""

from typing import Any

import tensorflow as tf

from tf_contrib.model_pruning.masks import (
    MASKED_WEIGHT_NAME,
    MASKED_WEIGHTS,
    MASKS,
    THRESHOLDS,
    WEIGHTS,
    multiply_by_mask,
)

_v1 = tf.compat.v1
__all__ = [
    "MASKED_WEIGHT_COLLECTION",
    "MASKED_WEIGHT_NAME",
    "MASK_COLLECTION",
    "THRESHOLD_COLLECTION",
    "WEIGHT_COLLECTION",
    "MaskedConv2D",
    "MaskedFullyConnected",
]
WEIGHT_COLLECTION, MASKED_WEIGHT_COLLECTION = WEIGHTS, MASKED_WEIGHTS
MASK_COLLECTION, THRESHOLD_COLLECTION = MASKS, THRESHOLDS


class _MaskedLayer(tf.compat.v1.layers.Layer):
    """Base class of layers that compute with their masked kernel.

    Attributes:
      mask, threshold: Variables that `Pruning` updates.
      masked_kernel: Kernel multiplied by the mask.
    """

    def add_weight(self, name: str, *args: Any, **kwargs: Any) -> tf.Variable:
        """Creates a variable; the kernel also gets a mask and a threshold."""
        variable = super().add_weight(name, *args, **kwargs)
        if name == "kernel":
            untrained = {"dtype": variable.dtype.base_dtype, "trainable": False}
            ones, zeros = _v1.ones_initializer(), _v1.zeros_initializer()
            self.mask = super().add_weight("mask", variable.shape, initializer=ones, **untrained)
            self.threshold = super().add_weight("threshold", [], initializer=zeros, **untrained)
            self.masked_kernel = multiply_by_mask(variable, self.mask, self.threshold)
        return variable


class MaskedConv2D(_MaskedLayer, tf.compat.v1.layers.Conv2D):
    """Convolution of images whose kernel has a mask; the arguments are those of `Conv2D`."""

    def convolution_op(self, inputs: tf.Tensor, kernel: tf.Variable) -> tf.Tensor:
        """Returns the convolution with the masked kernel."""
        del kernel
        return super().convolution_op(inputs, self.masked_kernel)


class MaskedFullyConnected(_MaskedLayer, tf.compat.v1.layers.Dense):
    """Dense layer whose kernel has a mask; the arguments are those of `Dense`."""

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        """Returns the outputs."""
        inputs = tf.convert_to_tensor(inputs)
        kernel = self.masked_kernel
        outputs = inputs @ kernel if inputs.shape.rank == 2 else tf.tensordot(inputs, kernel, 1)
        if self.use_bias:
            outputs = tf.nn.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)
