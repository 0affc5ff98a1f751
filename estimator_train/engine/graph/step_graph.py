"""Builds the graph of one step: calls input_fn and model_fn, on one device or under a strategy."""

import contextlib
import dataclasses
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from estimator_train.engine import keras_3
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.graph import replicas
from estimator_train.engine.graph.loss_scale import scale_losses
from estimator_train.engine.inputs.input_fn import Inputs, find_batch_size, make_inputs
from estimator_train.engine.type_aliases import InputFn, TensorStructure
from estimator_train.estimator_spec.spec import EstimatorSpec, ModeKeys


@dataclasses.dataclass(frozen=True)
class Step:
    """Step of a job in the default graph.

    Attributes:
      inputs: Features and labels of the step.
      spec: The result of model_fn.
      global_step: The variable that counts training steps.
      batch_size: Tensor with the number of examples in a step, over all replicas, or None.
    """

    inputs: Inputs
    spec: EstimatorSpec
    global_step: tf.Variable
    batch_size: tf.Tensor | None


def build_step(
    context: EstimatorContext,
    input_fn: InputFn,
    mode: str,
    strategy: tf.distribute.Strategy | None = None,
) -> Step:
    """Builds a training or evaluation step in the default graph.

    Args:
      context: The estimator that is run.
      input_fn: The user's input_fn.
      mode: ModeKeys.TRAIN or ModeKeys.EVAL.
      strategy: The `tf.distribute` strategy to build under, or None.

    Returns:
      The step; `start_hooks` of its input must be among the session's hooks.
    """
    is_scaled = mode == ModeKeys.TRAIN and context.config.mixed_precision == "float16"
    scaled = scale_losses() if is_scaled else contextlib.nullcontext()
    with scaled, strategy.scope() if strategy else contextlib.nullcontext():
        global_step = context.create_global_step(tf.compat.v1.get_default_graph())
        if strategy:
            inputs = replicas.make_distributed_inputs(context, input_fn, mode, strategy)
            call = functools.partial(call_model_fn, context, mode=mode)
            spec = replicas.call_on_replicas(call, inputs, mode, strategy)
            batch_size = replicas.compute_batch_size(inputs, strategy)
        else:
            inputs = make_inputs(context, input_fn, mode)
            spec = call_model_fn(context, inputs.features, inputs.labels, mode)
            batch_size = find_batch_size(inputs.features)
    if isinstance(spec.loss, tf.Variable):
        spec = spec._replace(loss=tf.convert_to_tensor(spec.loss))
    return Step(inputs, spec, global_step, batch_size)


class GlobalStepMethods:
    """Methods of Estimator that make the global step; programs override and call them."""

    def _create_global_step(self, graph: tf.Graph) -> tf.Variable:
        return tf.compat.v1.train.create_global_step(graph)

    def _create_and_assert_global_step(self, graph: tf.Graph) -> tf.Variable:
        step = self._create_global_step(graph)
        if step is not tf.compat.v1.train.get_global_step(graph):
            raise ValueError("_create_global_step must make the global step of the graph.")
        return step


@contextlib.contextmanager
def open_model_graph(
    context: EstimatorContext, device_fn: Callable[..., Any] | None = None
) -> Iterator[tf.Graph]:
    """Makes a new default graph with a device function, by default the job's, and the seed."""
    with tf.Graph().as_default() as graph, graph.device(device_fn or context.config.device_fn):
        tf.compat.v1.set_random_seed(context.config.tf_random_seed)
        yield graph


def call_model_fn(
    context: EstimatorContext, features: TensorStructure, labels: TensorStructure, mode: str
) -> EstimatorSpec:
    """Calls the Estimator's `_call_model_fn`, which calls model_fn.

    Args:
      context: The estimator that is run.
      features: Tensor or structure of tensors from the input.
      labels: Tensor or structure of tensors, or None.
      mode: A ModeKeys value.

    Raises:
      MissingFeaturesError: model_fn needs features and there are none.
      ValueError: model_fn does not take labels and there are some, or it returned no EstimatorSpec.
    """
    try:
        spec = context.call_model_fn(features, labels, mode, context.config)
    except Exception as error:
        keras_3.explain_keras_3_error("model_fn", error)
        if features is None and labels is None and _comes_from_none(error):
            raise MissingFeaturesError(
                "input_fn returned None, and model_fn needs features: "
                f"{type(error).__name__}: {error}"
            ) from error
        raise
    if "keras" in sys.modules:
        keras_3.warn_of_keras_3_variables()
    if not isinstance(spec, EstimatorSpec):
        raise ValueError(
            "model_fn should return an EstimatorSpec. "
            f"{context.model_fn} returned {spec!r} of type {type(spec).__name__} for mode '{mode}'."
        )
    return spec


class MissingFeaturesError(ValueError, TypeError, AttributeError):
    """Error for an input_fn that returned None while model_fn uses features.

    It has the types of the errors that Python raises for such a use of None.
    """


def _comes_from_none(error: Exception) -> bool:
    """Returns whether an error says that None was used as a tensor, a dict or an object."""
    return isinstance(error, (AttributeError, TypeError, ValueError)) and "None" in str(error)
