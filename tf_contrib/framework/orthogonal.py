"""Kernels of convolutions that keep norms (Xiao et al., 2018, "Dynamical Isometry")."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import DType

_v1 = tf.compat.v1


class _ConvolutionalOrthogonal:
    """Base class of initial values of kernels, which keep the norm of circular inputs.

    Args:
      gain: Factor of the kernel.
      seed: Random seed.
      dtype: Type of the numbers.
    """

    _rank: int

    def __init__(
        self, gain: float = 1.0, seed: int | None = None, dtype: DType = tf.float32
    ) -> None:
        self.gain, self.seed, self.dtype = gain, seed, tf.as_dtype(dtype)

    def __call__(
        self, shape: Sequence[int], dtype: DType | None = None, partition_info: object = None
    ) -> tf.Tensor:
        """Returns a kernel: a product of kernels of two positions along one axis, and a matrix.

        Args:
          shape: The sizes, all equal, and the numbers of input and output channels.
          dtype: Type of the numbers; that of the constructor by default.
          partition_info: Not used.

        Raises:
          ValueError: The shape has another rank, several sizes, or fewer outputs than inputs.
        """
        del partition_info
        *sizes, inputs, outputs = (int(size) for size in shape)
        if len(sizes) != self._rank:
            raise ValueError(
                f"The tensor to initialize must have {self._rank + 2} axes, got {shape}."
            )
        if inputs > outputs:
            raise ValueError("In_filters cannot be greater than out_filters.")
        if len(set(sizes)) > 1:
            raise ValueError("Kernel sizes must be equal.")
        kind = tf.as_dtype(dtype or self.dtype)
        matrices = iter(range(1 + self._rank * sizes[0]))
        kernel = self._make_orthogonal(outputs, kind, next(matrices))[:inputs]
        kernel = tf.reshape(kernel, [*([1] * self._rank), inputs, outputs])
        for axis in [*range(self._rank)] * (sizes[0] - 1):
            onto = self._make_orthogonal(outputs, kind, next(matrices))[:, : max(1, outputs // 2)]
            projection = tf.matmul(onto, onto, transpose_b=True)
            near = kernel @ projection
            kernel = self._shift(near, axis, [0, 1]) + self._shift(kernel - near, axis, [1, 0])
        return self.gain * kernel

    def _make_orthogonal(self, size: int, dtype: tf.DType, number: int) -> tf.Tensor:
        """Returns a random orthogonal matrix, another one for each number."""
        seed = None if self.seed is None else self.seed + number
        q, r = tf.linalg.qr(tf.random.normal([size, size], dtype=dtype, seed=seed))
        return q * tf.sign(tf.linalg.diag_part(r))

    def _shift(self, kernel: tf.Tensor, axis: int, zeros: list[int]) -> tf.Tensor:
        pads = [[0, 0] for _ in range(self._rank + 2)]
        pads[axis] = zeros
        return tf.pad(kernel, pads)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments."""
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


class ConvolutionalOrthogonal1D(_ConvolutionalOrthogonal):
    """Initial values of kernels with one spatial axis."""

    _rank = 1


class ConvolutionalOrthogonal2D(_ConvolutionalOrthogonal):
    """Initial values of kernels of images."""

    _rank = 2


class ConvolutionalOrthogonal3D(_ConvolutionalOrthogonal):
    """Initial values of kernels with three spatial axes."""

    _rank = 3
