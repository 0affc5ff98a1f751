"""The shard of the input that each worker of a cluster reads."""

from typing import Any

import tensorflow as tf

from estimator_train.engine.tf_internals import iterators

_Policy = tf.data.experimental.AutoShardPolicy


def select_shard(dataset: tf.data.Dataset, input_context: tf.distribute.InputContext) -> Any:
    """Returns the shard of a Dataset for one of several pipelines, by its auto_shard_policy.

    With AUTO, the default, and with OFF each worker reads the complete Dataset, as in tf.estimator.

    Args:
      dataset: The return value of an input_fn.
      input_context: The index and number of the pipelines.
    """
    if input_context.num_input_pipelines == 1:
        return dataset
    policy = iterators.read_options(dataset).experimental_distribute.auto_shard_policy
    if policy in (_Policy.AUTO, _Policy.OFF):
        return dataset
    specs = tf.nest.flatten(dataset.element_spec, expand_composites=True)
    variant = tf.raw_ops.AutoShardDataset(
        input_dataset=tf.data.experimental.to_variant(dataset),
        num_workers=input_context.num_input_pipelines,
        index=input_context.input_pipeline_id,
        auto_shard_policy=policy.value,
        num_replicas=input_context.num_replicas_in_sync,
        output_types=[spec.dtype for spec in specs],
        output_shapes=[spec.shape for spec in specs],
    )
    return tf.data.experimental.from_variant(variant, dataset.element_spec)
