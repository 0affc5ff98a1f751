"""Builds the graph of one step: calls input_fn and model_fn, on one device or under a strategy."""

import contextlib
import copy
import dataclasses
import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine import keras_3_errors
from estimator_train.engine.graph import replicas
from estimator_train.engine.graph.mixed_precision import scale_losses
from estimator_train.engine.inputs.input_fn import Inputs, find_batch_size, make_inputs
from estimator_train.engine.job import Job
from estimator_train.engine.tf_internals import modes, variable_copies, zero_slots
from estimator_train.engine.types import InputFn, TensorStructure
from estimator_train.estimator_spec import EstimatorSpec, ModeKeys

LOSS = "loss"
HAS_BATCHES = "(has batches)"
"""Name of a metric of every evaluation: 1.0 if a batch was read, otherwise 0.0."""


@dataclasses.dataclass(frozen=True)
class Step:
    """Step of a job in the default graph.

    Attributes:
      inputs: Features and labels of the step.
      spec: The result of model_fn.
      global_step: The variable that counts training steps.
      batch_size: Tensor with the number of examples in a step, over all replicas, or None.
      replica_updates: For each replica of a strategy, the operation that adds its batch to the
        metrics.
    """

    inputs: Inputs
    spec: EstimatorSpec
    global_step: tf.Variable
    batch_size: tf.Tensor | None
    replica_updates: Sequence[tf.Operation] = ()


def build_step(
    job: Job,
    input_fn: InputFn,
    mode: str,
    strategy: tf.distribute.Strategy | None = None,
) -> Step:
    """Builds a training or evaluation step in the default graph.

    Args:
      job: The call of the Estimator.
      input_fn: The user's input_fn.
      mode: ModeKeys.TRAIN or ModeKeys.EVAL.
      strategy: The `tf.distribute` strategy to build under, or None.

    Returns:
      The step; `start_hooks` of its input must be among the session's hooks.
    """
    is_scaled = mode == ModeKeys.TRAIN and job.config.mixed_precision == "float16"
    scaled = scale_losses() if is_scaled else contextlib.nullcontext()
    with scaled, strategy.scope() if strategy else contextlib.nullcontext():
        global_step = job.create_global_step(tf.compat.v1.get_default_graph())
        call = _call_to_evaluate if mode == ModeKeys.EVAL else call_model_fn
        updates: Sequence[tf.Operation] = ()
        if strategy:
            inputs = replicas.make_distributed_inputs(job, input_fn, mode, strategy)
            call_replica = functools.partial(call, job, mode=mode)
            spec, updates = replicas.call_on_replicas(call_replica, inputs, mode, strategy)
            batch_size = replicas.compute_batch_size(inputs, strategy)
        else:
            inputs = make_inputs(job, input_fn, mode)
            spec = call(job, inputs.features, inputs.labels, mode)
            batch_size = find_batch_size(inputs.features)
    if isinstance(spec.loss, tf.Variable):
        spec = spec._replace(loss=tf.convert_to_tensor(spec.loss))
    return Step(inputs, spec, global_step, batch_size, updates)


@contextlib.contextmanager
def open_model_graph(job: Job, device_fn: Callable[..., Any] | None = None) -> Iterator[tf.Graph]:
    """Makes a new default graph with a device function, by default the job's, and the seed."""
    modes.check_eager_mode_fast()
    with tf.Graph().as_default() as graph, graph.device(device_fn or job.config.device_fn):
        tf.compat.v1.set_random_seed(job.config.tf_random_seed)
        variable_copies.copy_variables(graph)
        zero_slots.copy_zero_slots(graph)
        yield graph


def call_model_fn(
    job: Job, features: TensorStructure, labels: TensorStructure, mode: str
) -> EstimatorSpec:
    """Calls the Estimator's `_call_model_fn`, which calls model_fn.

    A dict or list of features or labels is copied: an export feeds the tensors that the receiver
    holds, also after model_fn has put others into its dict.

    Args:
      job: The call of the Estimator.
      features: Tensor or structure of tensors from the input.
      labels: Tensor or structure of tensors, or None.
      mode: A ModeKeys value.

    Raises:
      MissingFeaturesError: model_fn needs features and there are none.
      ValueError: model_fn does not take labels and there are some, or it returned no EstimatorSpec.
    """
    try:
        given, targets = map(_copy_container, (features, labels))
        spec = job.call_model_fn(given, targets, mode)
    except Exception as error:
        keras_3_errors.explain_keras_3_error("model_fn", error)
        if features is None and labels is None and _comes_from_none(error):
            raise MissingFeaturesError(
                "input_fn returned None, and model_fn needs features: "
                f"{type(error).__name__}: {error}"
            ) from error
        raise
    if "keras" in sys.modules:
        keras_3_errors.warn_of_keras_3_variables()
    if not isinstance(spec, EstimatorSpec):
        raise ValueError(
            "model_fn should return an EstimatorSpec. "
            f"{job.model_fn} returned {spec!r} of type {type(spec).__name__} for mode '{mode}'."
        )
    return spec


def _copy_container(structure: TensorStructure) -> TensorStructure:
    """Returns a shallow copy of a dict or list; other structures cannot be changed."""
    return copy.copy(structure) if isinstance(structure, (dict, list)) else structure


def _call_to_evaluate(
    job: Job, features: TensorStructure, labels: TensorStructure, mode: str
) -> EstimatorSpec:
    """Calls model_fn; returns its spec with the metrics of every evaluation.

    Each replica of a strategy has them, so that each batch counts once.

    Raises:
      ValueError: A metric of model_fn has a reserved name.
    """
    spec = call_model_fn(job, features, labels, mode)
    metrics = dict(spec.eval_metric_ops)
    keys = tf.compat.v1.GraphKeys
    for name, label in ((LOSS, f'"{LOSS}"'), (keys.GLOBAL_STEP, f"`{keys.GLOBAL_STEP}`")):
        if name in metrics:
            raise ValueError(
                f"Metric with name {label} is not allowed, because Estimator already defines a "
                "default metric with the same name."
            )
    metrics[LOSS] = tf.compat.v1.metrics.mean(spec.loss)
    with tf.control_dependencies([tf.convert_to_tensor(spec.loss)]):
        one = tf.ones([])
    metrics[HAS_BATCHES] = tf.compat.v1.metrics.mean(one)  # 0 without a batch.
    return spec._replace(eval_metric_ops=metrics)


class MissingFeaturesError(ValueError, TypeError, AttributeError):
    """Error for an input_fn that returned None while model_fn uses features.

    It has the types of the errors that Python raises for such a use of None.
    """


def _comes_from_none(error: Exception) -> bool:
    """Returns whether an error says that None was used as a tensor, a dict or an object."""
    return isinstance(error, (AttributeError, TypeError, ValueError)) and "None" in str(error)
