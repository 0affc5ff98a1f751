"""Which part of the input each worker of a cluster reads."""

from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.inputs.input_fn import call_input_fn, is_dataset
from estimator_train.estimator_spec.spec import ModeKeys
from estimator_train.run_config import RunConfig
from estimator_train.run_config.topology import is_ps_task

_Policy = tf.data.experimental.AutoShardPolicy


def input_of_task(context: EstimatorContext, input_fn: Any, mode: str) -> Any:
    """What input_fn returns to this process, told of those that train asynchronously beside it.

    Args:
      context: The estimator that is run.
      input_fn: The user's input_fn.
      mode: A ModeKeys value.
    """
    if mode != ModeKeys.TRAIN or not trains_beside_others(context.config):
        return call_input_fn(context, input_fn, mode)
    input_context = place_of_task(context.config)
    return own_part(call_input_fn(context, input_fn, mode, input_context), input_context)


def trains_beside_others(config: RunConfig) -> bool:
    """Whether this process trains asynchronously beside others."""
    return is_ps_task(config) and config.num_worker_replicas > 1


def place_of_task(config: RunConfig) -> tf.distribute.InputContext:
    """The place of an asynchronous worker's input among those of the others."""
    return tf.distribute.InputContext(
        num_input_pipelines=config.num_worker_replicas,
        input_pipeline_id=config.global_id_in_cluster,
    )


def own_part(result: Any, input_context: tf.distribute.InputContext) -> Any:
    """The part of a Dataset that its auto_shard_policy leaves to one pipeline of several.

    AUTO, which every Dataset has by default, and OFF leave it whole, as input_fns always were.

    Args:
      result: What an input_fn returned.
      input_context: The pipeline's place among the others.
    """
    if not is_dataset(result) or input_context.num_input_pipelines == 1:
        return result
    policy = tf_internals.options_of(result).experimental_distribute.auto_shard_policy
    if policy in (_Policy.AUTO, _Policy.OFF):
        return result
    specs = tf.nest.flatten(result.element_spec, expand_composites=True)
    variant = tf.raw_ops.AutoShardDataset(
        input_dataset=tf.data.experimental.to_variant(result),
        num_workers=input_context.num_input_pipelines,
        index=input_context.input_pipeline_id,
        auto_shard_policy=policy.value,
        num_replicas=input_context.num_replicas_in_sync,
        output_types=[spec.dtype for spec in specs],
        output_shapes=[spec.shape for spec in specs],
    )
    return tf.data.experimental.from_variant(variant, result.element_spec)
