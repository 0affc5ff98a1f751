"""Which part of the input each worker of a cluster reads."""

from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals

_Policy = tf.data.experimental.AutoShardPolicy


def own_part(dataset: tf.data.Dataset, input_context: tf.distribute.InputContext) -> Any:
    """The part of a Dataset that its auto_shard_policy leaves to one pipeline of several.

    AUTO, which every Dataset has by default, and OFF leave it whole, as input_fns always were.

    Args:
      dataset: What an input_fn returned.
      input_context: The pipeline's place among the others.
    """
    if input_context.num_input_pipelines == 1:
        return dataset
    policy = tf_internals.options_of(dataset).experimental_distribute.auto_shard_policy
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
