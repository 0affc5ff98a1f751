"""From a user's model_fn to an EstimatorSpec in a graph."""

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_train.engine import keras_3
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.function_arguments import argument_names, call_with_known
from estimator_train.estimator_spec.spec import EstimatorSpec

_LOG = tf.get_logger()


@contextlib.contextmanager
def model_graph(context: EstimatorContext, device_fn: Any = None) -> Iterator[tf.Graph]:
    """A new default graph with the job's device function, or this one, and its random seed."""
    with tf.Graph().as_default() as graph, graph.device(device_fn or context.config.device_fn):
        tf.compat.v1.set_random_seed(context.config.tf_random_seed)
        yield graph


@contextlib.contextmanager
def _needing(features: Any) -> Iterator[None]:
    """Within it, an error that comes of an input_fn without a result says so."""
    try:
        yield
    except Exception as error:
        if features is not None:
            raise
        raise ValueError(
            f"input_fn returned None, and model_fn needs features: {type(error).__name__}: {error}"
        ) from error


def call_model_fn(
    context: EstimatorContext, features: Any, labels: Any, mode: str, config: Any = None
) -> EstimatorSpec:
    """Calls model_fn with those of labels, mode, params and config that it names.

    Args:
      context: The estimator that is run.
      features: Tensor or structure of tensors from the input.
      labels: The same, or None.
      mode: A ModeKeys value.
      config: Handed to model_fn in place of the job's own RunConfig.

    Raises:
      ValueError: There are labels that model_fn does not take, or it returned no EstimatorSpec.
    """
    if labels is not None and "labels" not in argument_names(context.model_fn):
        raise ValueError("model_fn does not take labels, but input_fn returns labels.")
    available = {
        "features": features,
        "labels": labels,
        "mode": mode,
        "params": context.params,
        "config": config or context.config,
    }
    _LOG.info("Calling model_fn.")
    with keras_3.explained("model_fn"), _needing(features):
        spec = call_with_known(context.model_fn, available)
    keras_3.warn_of_variables()
    _LOG.info("Done calling model_fn.")
    if not isinstance(spec, EstimatorSpec):
        raise ValueError(
            "model_fn should return an EstimatorSpec. "
            f"{context.model_fn} returned {spec!r} of type {type(spec).__name__} for mode '{mode}'."
        )
    return spec
