"""Features, labels and sample weights of an input_fn in the form that a Keras model takes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.keras.graph.io_names import Names
from estimator_train.keras.graph.structures import Structure

_FEATURES = "features"
_SAMPLE_WEIGHTS = "sample_weights"


def as_tensors(given: Structure) -> Structure:
    """Replaces NumPy arrays by constants.

    Args:
      given: Tensors and arrays, or lists, tuples and dicts of them.
    """
    return tf.nest.map_structure(
        lambda value: tf.constant(value) if isinstance(value, np.ndarray) else value, given
    )


def split_features(features: Structure) -> tuple[Structure, Structure]:
    """Returns the model's features and the sample weights.

    Args:
      features: The features of input_fn; with sample weights a dict of `features` and
        `sample_weights`.

    Returns:
      The features, and the weights or None.
    """
    if isinstance(features, Mapping) and set(features) == {_FEATURES, _SAMPLE_WEIGHTS}:
        return features[_FEATURES], features[_SAMPLE_WEIGHTS]
    return features, None


class MissingLabelsError(tf.errors.InvalidArgumentError, ValueError):
    """Error for an input_fn without labels while the model has a loss."""


def find_labels(
    labels: Structure, names: Names, wanted: Sequence[str], outputs: Mapping[str, tf.Tensor]
) -> dict[str, Any]:
    """Returns labels by output name, with the ranks and dtypes of the outputs.

    Args:
      labels: The labels of input_fn: a tensor if one output needs labels, or a list, tuple or dict
        of tensors.
      names: The names of the model's outputs.
      wanted: The outputs that have a loss or metrics.
      outputs: The model's outputs by name.

    Raises:
      FormattedKeyError: A dict of labels lacks an output.
      MissingLabelsError: There are no labels, and an output needs some.
    """
    if not wanted:
        return {}
    if labels is None:
        raise MissingLabelsError(
            None,
            None,
            f"The Keras model was compiled with a loss or metrics of its outputs {list(wanted)}, "
            "but input_fn returned no labels. Return (features, labels).",
        )
    if len(wanted) == 1 and isinstance(labels, (tf.Tensor, tf.Variable)):
        labels = {wanted[0]: labels}
    given = names.pick(labels, "labels", "outputs", wanted)
    return {name: _align(given[name], outputs[name]) for name in wanted}


def find_weights(sample_weights: Structure, names: Names) -> dict[str, Any]:
    """Returns sample weights by output name; None for an output without weights.

    Args:
      sample_weights: None; a tensor of shape [batch] (or of an output's shape without its last
        dimension), for a model of one output; or a list, tuple or dict of these by output.
      names: The names of the model's outputs.

    Raises:
      TypeError: There is one tensor for several outputs.
      ValueError: A dict has unknown names, or a list another length.
    """
    several = len(names.names) > 1
    if several and isinstance(sample_weights, (tf.Tensor, tf.Variable)):
        raise TypeError(
            f"The model has multiple outputs, so `{_SAMPLE_WEIGHTS}` should be either a list or a "
            f"dict. Provided `{_SAMPLE_WEIGHTS}` type not understood: {sample_weights}"
        )
    return names.spread(sample_weights, _SAMPLE_WEIGHTS)


def _align(label: Any, output: tf.Tensor) -> Any:  # Any: also sparse and ragged tensors.
    """Casts a label to the output's dtype within floats or integers; [batch] becomes [batch, 1]."""
    if not isinstance(label, (tf.Tensor, tf.Variable)):
        return label
    if label.shape.rank == 1 and output.shape.rank == 2:
        label = tf.expand_dims(label, -1)
    floats = label.dtype.is_floating and output.dtype.is_floating
    integers = label.dtype.is_integer and output.dtype.is_integer
    return tf.cast(label, output.dtype) if floats or integers else label
