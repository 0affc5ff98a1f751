"""Placeholders for a served model, with the shapes and dtypes of its input_fn's features."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train import RunConfig, export
from estimator_train.cli.output.errors import UsageError
from estimator_train.engine.inputs.input_fn import is_dataset, split

Receiver = export.ServingInputReceiver | export.TensorServingInputReceiver


def make_receiver_fn(
    input_fn: Callable[..., Any], config: RunConfig, input_name: str
) -> Callable[[], Receiver]:
    """Returns a serving_input_receiver_fn that receives the features of an input_fn.

    Args:
      input_fn: The input_fn; it takes config and input_context.
      config: The estimator's RunConfig, for input_fn.
      input_name: The name in the signature if the features are a single tensor.

    Returns:
      A function that creates a placeholder for each feature, for any batch size.

    Raises:
      UsageError: The features are neither a tensor nor a dict of tensors.
    """
    with tf.Graph().as_default():
        result = input_fn(config=config, input_context=tf.distribute.InputContext())
        features, _ = split(result.element_spec if is_dataset(result) else result)
        is_single = not isinstance(features, dict)
        leaves = {input_name: features} if is_single else features
        specs = {name: _make_batch_spec(name, leaf) for name, leaf in leaves.items()}

    def receiver_fn() -> Receiver:
        placeholders = {
            name: tf.compat.v1.placeholder(spec.dtype, spec.shape, name)
            for name, spec in specs.items()
        }
        if is_single:
            return export.TensorServingInputReceiver(placeholders[input_name], placeholders)
        return export.ServingInputReceiver(placeholders, placeholders)

    return receiver_fn


def _make_batch_spec(name: str, leaf: Any) -> tf.TensorSpec:
    """Returns the spec of a feature for any number of examples."""
    if not isinstance(leaf, (tf.TensorSpec, tf.Tensor)):
        raise UsageError(
            f"feature '{name}' is {leaf!r}, but export supports only dense tensors: write a "
            "serving_input_receiver_fn and call Estimator.export_saved_model with it."
        )
    shape = None if leaf.shape.rank is None else [None, *leaf.shape[1:]]
    return tf.TensorSpec(shape, leaf.dtype)
