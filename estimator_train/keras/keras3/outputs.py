"""The outputs of a Keras 3 model by name."""

import dataclasses

import keras
import tensorflow as tf

from estimator_train.keras.graph.io_names import Names
from estimator_train.keras.graph.structures import Structure


@dataclasses.dataclass(frozen=True)
class NamedOutputs:
    """Outputs of a model.

    Attributes:
      names: Their names.
      outputs: Tensors by name.
    """

    names: Names
    outputs: dict[str, tf.Tensor]


def named_outputs(model: keras.Model, predicted: Structure) -> NamedOutputs:
    """Names what `predict_step` returned: by its keys, the model's output names, or by numbers.

    Args:
      model: The model.
      predicted: A tensor, or a list, tuple or dict of tensors.
    """
    if isinstance(predicted, dict) and all(map(tf.is_tensor, predicted.values())):
        return NamedOutputs(Names(tuple(predicted)), dict(predicted))
    tensors = tf.nest.flatten(predicted)
    last = [model.layers[-1].name] if isinstance(model, keras.Sequential) else []
    names = list(getattr(model, "output_names", last))
    if len(set(names)) != len(tensors):
        names = [f"output_{number}" for number in range(1, len(tensors) + 1)]
    return NamedOutputs(Names(tuple(names)), dict(zip(names, tensors, strict=True)))
