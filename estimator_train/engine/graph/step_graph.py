"""The graph of one step: input_fn and model_fn called on one device or under a strategy."""

import contextlib
import dataclasses
import functools
import sys
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_train.engine import keras_3
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.graph import replicas
from estimator_train.engine.graph.mixed_precision import scaled_losses
from estimator_train.engine.inputs.input_fn import Inputs, batch_size_of, inputs_of
from estimator_train.engine.user_functions import call_with_known
from estimator_train.estimator_spec.spec import EstimatorSpec, ModeKeys

_LOG = tf.get_logger()
_LABELS_UNTAKEN = "model_fn does not take labels, but input_fn returns labels."


@dataclasses.dataclass(frozen=True)
class Step:
    """One step of a job in the default graph.

    Attributes:
      inputs: What the step reads.
      spec: What model_fn made of it.
      global_step: The variable that counts training steps.
      batch_size: Tensor of the examples in a step, over all replicas, or None.
    """

    inputs: Inputs
    spec: EstimatorSpec
    global_step: tf.Variable
    batch_size: tf.Tensor | None


def build_step(context: EstimatorContext, input_fn: Any, mode: str, strategy: Any = None) -> Step:
    """Builds a training or evaluation step in the default graph.

    Args:
      context: The estimator that is run.
      input_fn: The user's input_fn.
      mode: ModeKeys.TRAIN or ModeKeys.EVAL.
      strategy: The `tf.distribute` strategy to build under, or None.

    Returns:
      The step; `start_hooks` of its input must be among the session's hooks.
    """
    precision = context.config.mixed_precision if mode == ModeKeys.TRAIN else None
    scaled = scaled_losses(precision) if precision else contextlib.nullcontext()
    with scaled, strategy.scope() if strategy else contextlib.nullcontext():
        global_step = tf.compat.v1.train.create_global_step()
        if strategy:
            inputs = replicas.distributed_inputs(context, input_fn, mode, strategy)
            call = functools.partial(call_model_fn, context, mode=mode)
            spec = replicas.call_on_replicas(call, inputs, mode, strategy)
            batch_size = replicas.batch_size(inputs, strategy)
        else:
            inputs = inputs_of(context, input_fn, mode)
            spec = call_model_fn(context, inputs.features, inputs.labels, mode)
            batch_size = batch_size_of(inputs.features)
    if isinstance(spec.loss, tf.Variable):
        spec = spec._replace(loss=tf.convert_to_tensor(spec.loss))
    return Step(inputs, spec, global_step, batch_size)


@contextlib.contextmanager
def model_graph(context: EstimatorContext, device_fn: Any = None) -> Iterator[tf.Graph]:
    """A new default graph with the job's device function, or this one, and its random seed."""
    with tf.Graph().as_default() as graph, graph.device(device_fn or context.config.device_fn):
        tf.compat.v1.set_random_seed(context.config.tf_random_seed)
        yield graph


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
      ValueError: There are labels that model_fn does not take, or no features and it needs them, or
        it returned no EstimatorSpec.
    """
    available = {
        "features": features,
        "labels": labels,
        "mode": mode,
        "params": context.params,
        "config": config or context.config,
    }
    untaken = {} if labels is None else {"labels": _LABELS_UNTAKEN}
    _LOG.info("Calling model_fn.")
    try:
        spec = call_with_known(context.model_fn, available, untaken=untaken)
    except Exception as error:
        keras_3.explain("model_fn", error)
        if features is not None or labels is not None:
            raise
        raise ValueError(
            f"input_fn returned None, and model_fn needs features: {type(error).__name__}: {error}"
        ) from error
    if "keras" in sys.modules:
        keras_3.warn_of_variables()
    _LOG.info("Done calling model_fn.")
    if not isinstance(spec, EstimatorSpec):
        raise ValueError(
            "model_fn should return an EstimatorSpec. "
            f"{context.model_fn} returned {spec!r} of type {type(spec).__name__} for mode '{mode}'."
        )
    return spec
