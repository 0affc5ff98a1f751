"""Networks that predict an output window from the features of both windows."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import tf_keras


class FlatPredictionModel(tf_keras.Model):
    """Dense layers on the concatenated features of both windows.

    Args:
      num_features: Number of values at each time.
      input_window_size: Number of times in the input window.
      output_window_size: Number of times in the output window.
      hidden_layer_sizes: Sizes of ReLU layers; by default the predictions are linear.
    """

    def __init__(
        self,
        num_features: int,
        input_window_size: int,
        output_window_size: int,
        hidden_layer_sizes: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        self._shape = (output_window_size, num_features)
        size = output_window_size * num_features
        layers = [tf_keras.layers.Dense(units, "relu") for units in hidden_layer_sizes or ()]
        self._hidden = tf_keras.Sequential(layers) if layers else tf.identity
        self._mean = tf_keras.layers.Dense(size, name="predicted_mean")
        self._log_covariance = tf_keras.layers.Dense(size, name="log_sigma_square")

    def call(
        self, input_window_features: tf.Tensor, output_window_features: tf.Tensor
    ) -> dict[str, Any]:
        """Returns the mean and covariance of the output window, [num_windows, window, values].

        Args:
          input_window_features: [num_windows, input_window_size, features].
          output_window_features: [num_windows, output_window_size, features].
        """
        windows = [input_window_features, output_window_features]
        activation = self._hidden(tf.concat([_flatten(window) for window in windows], 1))
        shape = [-1, *self._shape]
        covariance = tf.exp(self._log_covariance(activation))
        return {
            "mean": tf.reshape(self._mean(activation), shape),
            "covariance": tf.reshape(covariance, shape),
        }


def _flatten(window: tf.Tensor) -> tf.Tensor:
    return tf.reshape(window, [-1, window.shape[1:].num_elements()])
