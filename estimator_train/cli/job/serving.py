"""What a served model is fed: placeholders like the features of its input_fn."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train import RunConfig, export
from estimator_train.cli.output.errors import UsageError
from estimator_train.engine.inputs.input_fn import split


def receiver_fn(
    input_fn: Callable[..., Any], config: RunConfig, input_name: str
) -> Callable[[], Any]:
    """Returns a serving_input_receiver_fn that takes what an input_fn delivers.

    Args:
      input_fn: The input_fn; it takes config and input_context.
      config: The estimator's RunConfig, for input_fn.
      input_name: The name that the signature gives to features that are a single tensor.

    Returns:
      A function that makes a placeholder for each feature, of any batch size.

    Raises:
      UsageError: The features are neither a tensor nor a dict of tensors.
    """
    with tf.Graph().as_default():
        result = input_fn(config=config, input_context=tf.distribute.InputContext())
        is_dataset = isinstance(result, (tf.data.Dataset, tf.compat.v1.data.Dataset))
        features, _ = split(result.element_spec if is_dataset else result)
        single = not isinstance(features, dict)
        leaves = {input_name: features} if single else features
        specs = {name: _batch_spec(name, leaf) for name, leaf in leaves.items()}

    def receiver() -> Any:
        placeholders = {
            name: tf.compat.v1.placeholder(spec.dtype, spec.shape, name)
            for name, spec in specs.items()
        }
        if single:
            return export.TensorServingInputReceiver(placeholders[input_name], placeholders)
        return export.ServingInputReceiver(placeholders, placeholders)

    return receiver


def _batch_spec(name: str, leaf: Any) -> tf.TensorSpec:
    """The spec of a feature with any number of examples."""
    if not isinstance(leaf, (tf.TensorSpec, tf.Tensor)):
        raise UsageError(
            f"feature '{name}' is {leaf!r}, and export makes placeholders for dense tensors only: "
            "call Estimator.export_saved_model with a serving_input_receiver_fn of your own."
        )
    shape = None if leaf.shape.rank is None else [None, *leaf.shape[1:]]
    return tf.TensorSpec(shape, leaf.dtype)
