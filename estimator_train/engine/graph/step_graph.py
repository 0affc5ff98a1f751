"""One step's graph: input_fn and model_fn called on one device or under a strategy."""

import contextlib
import dataclasses
from typing import Any

import tensorflow as tf

from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.graph import replicas
from estimator_train.engine.graph.mixed_precision import scaled_losses
from estimator_train.engine.graph.model_fn import call_model_fn
from estimator_train.engine.inputs.input_fn import Inputs, batch_size_of, inputs_of
from estimator_train.engine.inputs.sharding import input_of_task
from estimator_train.estimator_spec.spec import EstimatorSpec, ModeKeys


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
      The step; `inputs.hooks` must be among the session's hooks.
    """
    precision = context.config.mixed_precision if mode == ModeKeys.TRAIN else None
    with scaled_losses(precision), strategy.scope() if strategy else contextlib.nullcontext():
        global_step = tf.compat.v1.train.create_global_step()
        if strategy:
            inputs = replicas.distributed_inputs(context, input_fn, mode, strategy)
            spec = replicas.call_on_replicas(context, inputs, mode, strategy)
            batch_size = replicas.batch_size(inputs, strategy)
        else:
            inputs = inputs_of(input_of_task(context, input_fn, mode))
            spec = call_model_fn(context, inputs.features, inputs.labels, mode)
            batch_size = batch_size_of(inputs.features)
    if isinstance(spec.loss, tf.Variable):
        spec = spec._replace(loss=tf.convert_to_tensor(spec.loss))
    return Step(inputs, spec, global_step, batch_size)
