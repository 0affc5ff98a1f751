"""The outputs of a Keras 3 model by name."""

import keras
import tensorflow as tf

from estimator_train.keras.graph.io_names import Names
from estimator_train.keras.graph.structures import Structure


def name_outputs(model: keras.Model, predicted: Structure) -> tuple[Names, dict[str, tf.Tensor]]:
    """Names the outputs of a model by their keys, by the model's output names, or by numbers.

    Args:
      model: The model.
      predicted: What its `predict_step` returned: a tensor, or a list, tuple or dict of tensors.

    Returns:
      The names, and the tensors by name.
    """
    if isinstance(predicted, dict) and all(map(tf.is_tensor, predicted.values())):
        return Names(tuple(predicted)), dict(predicted)
    tensors = tf.nest.flatten(predicted)
    last = [model.layers[-1].name] if isinstance(model, keras.Sequential) else []
    names = list(getattr(model, "output_names", last))
    if len(set(names)) != len(tensors):
        names = [f"output_{number}" for number in range(1, len(tensors) + 1)]
    return Names(tuple(names)), dict(zip(names, tensors, strict=True))
