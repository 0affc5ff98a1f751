"""Which part of the input each worker of a cluster reads."""

from typing import Any

import tensorflow as tf

from estimator_train.engine.inputs import call_input_fn, is_dataset
from estimator_train.engine.job import Job
from estimator_train.engine.member import is_task
from estimator_train.spec import ModeKeys

_Policy = tf.data.experimental.AutoShardPolicy


def input_of_task(job: Job, input_fn: Any, mode: str) -> Any:
    """What input_fn returns to this process, told of the others that train out of step with it.

    Args:
      job: The job that is run.
      input_fn: The user's input_fn.
      mode: A ModeKeys value.
    """
    config = job.config
    if mode != ModeKeys.TRAIN or not is_task(config) or config.num_worker_replicas == 1:
        return call_input_fn(job, input_fn, mode)
    context = tf.distribute.InputContext(
        num_input_pipelines=config.num_worker_replicas,
        input_pipeline_id=config.global_id_in_cluster,
    )
    return own_part(call_input_fn(job, input_fn, mode, context), context)


def own_part(result: Any, context: tf.distribute.InputContext) -> Any:
    """The part of a Dataset that its auto_shard_policy leaves to one pipeline of several.

    AUTO, which every Dataset has by default, and OFF leave it whole, as input_fns always were.

    Args:
      result: What an input_fn returned.
      context: The pipeline's place among the others.
    """
    if not is_dataset(result) or context.num_input_pipelines == 1:
        return result
    policy = result.options().experimental_distribute.auto_shard_policy
    if policy in (_Policy.AUTO, _Policy.OFF):
        return result
    specs = tf.nest.flatten(result.element_spec, expand_composites=True)
    variant = tf.raw_ops.AutoShardDataset(
        input_dataset=tf.data.experimental.to_variant(result),
        num_workers=context.num_input_pipelines,
        index=context.input_pipeline_id,
        auto_shard_policy=policy.value,
        num_replicas=context.num_replicas_in_sync,
        output_types=[spec.dtype for spec in specs],
        output_shapes=[spec.shape for spec in specs],
    )
    return tf.data.experimental.from_variant(variant, result.element_spec)
