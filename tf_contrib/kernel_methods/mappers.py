"""Random Fourier features (Rahimi and Recht, "Random Features for ... Kernel Machines", 2007)."""

import math

import numpy as np
import tensorflow as tf

from tf_contrib._types import TensorLike


class InvalidShapeError(Exception):
    """Error of features of the wrong shape."""


class RandomFourierFeatureMapper:
    """Map of features whose inner products are near the values of a Gaussian kernel.

    Args:
      input_dim: Number of features.
      output_dim: Number of mapped features.
      stddev: Standard deviation of the kernel.
      seed: Seed of the map.
      name: Name of the map.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        stddev: float = 1.0,
        seed: int = 1,
        name: str | None = None,
    ) -> None:
        self._input_dim, self._output_dim = input_dim, output_dim
        self._stddev, self._seed, self._name = stddev, seed, name

    @property
    def name(self) -> str:
        """The name of the map; by default a number."""
        return self._name or str(id(self))

    @property
    def input_dim(self) -> int:
        """The number of features."""
        return self._input_dim

    @property
    def output_dim(self) -> int:
        """The number of mapped features."""
        return self._output_dim

    def map(self, input_tensor: TensorLike) -> tf.Tensor:
        """Maps features of shape [batch, input_dim] to [batch, output_dim].

        Raises:
          InvalidShapeError: The features have another shape.
        """
        features = tf.convert_to_tensor(input_tensor)
        shape = features.shape.as_list()
        if len(shape) != 2:
            raise InvalidShapeError(
                f"The shape of the tensor should be 2. Got {len(shape)} instead."
            )
        if shape[1] != self._input_dim:
            raise InvalidShapeError(
                f"Invalid dimension: expected {self._input_dim} input features, "
                f"got {shape[1]} instead."
            )
        random = np.random.RandomState(self._seed)
        size = [self._input_dim, self._output_dim]
        frequencies = random.normal(scale=1 / self._stddev, size=size)
        phases = random.uniform(0, 2 * np.pi, [1, self._output_dim])
        scale = math.sqrt(2 / self._output_dim)
        angles = tf.matmul(features, tf.constant(frequencies, features.dtype))
        return scale * tf.cos(angles + tf.constant(phases, features.dtype))
