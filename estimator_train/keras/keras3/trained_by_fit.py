"""Writes the state of a Keras 3 model after `fit` as an Estimator's checkpoint."""

import os

import keras
import tensorflow as tf

from estimator_train.keras.keras3.saved_names import name_saved_variables

_GLOBAL_STEP = tf.compat.v1.GraphKeys.GLOBAL_STEP


def write_state_after_fit(model: keras.Model, model_dir: str) -> str:
    """Writes the weights, the optimizer's variables and the count of steps to a checkpoint.

    Args:
      model: A compiled model that was trained, or at least built.
      model_dir: The directory of checkpoints.

    Returns:
      The checkpoint's path prefix.

    Raises:
      ValueError: The model has no variables yet.
    """
    if not model.built:
        raise ValueError(f"The Keras model '{model.name}' has no variables yet: train it first.")
    of_model, of_optimizer = name_saved_variables(model)
    values = {name: v.value for name, v in {**of_model, **of_optimizer}.items()}
    step = max(int(v.numpy()) for v in of_optimizer.values() if v.name == "iteration")
    values[_GLOBAL_STEP] = tf.constant(step, tf.int64)
    path = os.path.join(model_dir, f"model.ckpt-{step}")
    tf.raw_ops.SaveV2(
        prefix=path,
        tensor_names=list(values),
        shape_and_slices=[""] * len(values),
        tensors=[tf.convert_to_tensor(value) for value in values.values()],
    )
    return path
