"""From a user's model_fn to an EstimatorSpec in a graph."""

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_train.engine.arguments import argument_names, call_with_known
from estimator_train.engine.job import Job
from estimator_train.spec import EstimatorSpec

_LOG = tf.get_logger()


@contextlib.contextmanager
def model_graph(job: Job, device_fn: Any = None) -> Iterator[tf.Graph]:
    """A new default graph with the job's device function, or this one, and its random seed."""
    with tf.Graph().as_default() as graph, graph.device(device_fn or job.config.device_fn):
        tf.compat.v1.set_random_seed(job.config.tf_random_seed)
        yield graph


def call_model_fn(
    job: Job, features: Any, labels: Any, mode: str, config: Any = None
) -> EstimatorSpec:
    """Calls model_fn with those of labels, mode, params and config that it names.

    Args:
      job: The job whose model_fn it is.
      features: Tensor or structure of tensors from the input.
      labels: The same, or None.
      mode: A ModeKeys value.
      config: Handed to model_fn in place of the job's own RunConfig.

    Raises:
      ValueError: There are labels that model_fn does not take, or it returned no EstimatorSpec.
    """
    if labels is not None and "labels" not in argument_names(job.model_fn):
        raise ValueError("model_fn does not take labels, but input_fn returns labels.")
    available = {
        "features": features,
        "labels": labels,
        "mode": mode,
        "params": job.params,
        "config": config or job.config,
    }
    _LOG.info("Calling model_fn.")
    spec = call_with_known(job.model_fn, available)
    _LOG.info("Done calling model_fn.")
    if not isinstance(spec, EstimatorSpec):
        raise ValueError(
            "model_fn should return an EstimatorSpec. "
            f"{job.model_fn} returned {spec!r} of type {type(spec).__name__} for mode '{mode}'."
        )
    return spec
