"""The input of several workers or replicas: the shard of each, and rounds of batches.

A strategy's own iterator ends when a replica finds no batch: the others lose their batches. So
several replicas read in rounds; in the last one only the first replicas may have a batch.
"""

from typing import Any

import tensorflow as tf

from estimator_train.engine.tf_internals import strategies
from estimator_train.engine.types import Hook, RunArgs, RunContext, RunValues

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
    policy = strategies.read_options(dataset).experimental_distribute.auto_shard_policy
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


class Rounds:
    """Rounds of an input, which a session reads one after another.

    The first element of the iterator is empty: it is read when the session begins, for the size of
    the first round.

    Args:
      dataset: Dataset of one replica's batches.
      replicas: Number of replicas.

    Attributes:
      iterator: The iterator of the rounds.
      elements: The element of each replica.
      reads: The operation that reads the element of each replica; it fails without a batch.
      next_size: Number of replicas that have a batch in the next round.
    """

    def __init__(self, dataset: tf.data.Dataset, replicas: int) -> None:
        rounds = _make_rounds(dataset, replicas)
        self.iterator = tf.compat.v1.data.make_initializable_iterator(rounds)
        packed, self._size = self.iterator.get_next()
        specs = tf.nest.flatten(dataset.element_spec, expand_composites=True)
        self.elements: list[Any] = []
        self.reads: list[tf.Operation] = []
        for replica in range(replicas):
            tensors = tf.raw_ops.OptionalGetValue(
                optional=packed[replica],
                output_types=[spec.dtype for spec in specs],
                output_shapes=[spec.shape for spec in specs],
            )
            self.reads.append(tensors[0].op)
            self.elements.append(
                tf.nest.pack_sequence_as(dataset.element_spec, tensors, expand_composites=True)
            )
        self.next_size = 0

    def make_hook(self) -> Hook:
        """Returns the hook that reads the size of the next round; it comes after the start."""
        return _SizeHook(self, self._size)


class _SizeHook(Hook):
    """Hook that reads the size of the first round, and with each round that of the next."""

    def __init__(self, rounds: Rounds, size: tf.Tensor) -> None:
        self._rounds, self._size = rounds, size

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Reads the size of the first round."""
        del coord
        self._rounds.next_size = int(session.run(self._size))

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Requests the size of the round after this one."""
        del run_context
        return RunArgs(self._size)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Stores the size."""
        del run_context
        self._rounds.next_size = int(run_values.results)


def _make_rounds(dataset: tf.data.Dataset, replicas: int) -> tf.data.Dataset:
    """Returns pairs of a round's optional elements and the size of the next round."""

    def pack(*element: Any) -> tf.Tensor:
        tensors = tf.nest.flatten(element, expand_composites=True)
        return tf.raw_ops.OptionalFromValue(components=tensors)

    def shift(before: tf.Tensor, current: tf.Tensor) -> tuple[tf.Tensor, Any]:
        has_batch = [
            tf.raw_ops.OptionalHasValue(optional=current[replica]) for replica in range(replicas)
        ]
        return current, (before, tf.reduce_sum(tf.cast(tf.stack(has_batch), tf.int32)))

    no_batch = tf.raw_ops.OptionalNone()
    end = tf.data.Dataset.from_tensors(0).map(lambda _: tf.raw_ops.OptionalNone())
    # With the last of these, each input is followed by a round without a batch.
    padded = dataset.map(pack).concatenate(end.repeat(2 * replicas - 1))
    rounds = padded.batch(replicas, drop_remainder=True)
    return rounds.scan(tf.stack([no_batch] * replicas), shift).prefetch(1)
