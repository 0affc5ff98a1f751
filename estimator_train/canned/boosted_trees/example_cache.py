"""Cache of buckets and logits of the examples, for a training whose batch contains all data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.heads.keys import FeatureTensors

_v1 = tf.compat.v1
_LOG = tf.get_logger()


class ExampleCache:
    """Buckets of the examples, and their logits by the finished trees.

    Checkpoints do not contain the cache, since the trees determine its values. A batch with other
    features than the batch before clears it, so that labels never meet another batch's buckets.

    Args:
      logits: Number of logits.
      features: Name to tensor: the features of the batch.

    Attributes:
      batches: Number of times that the features of the batch changed, int32.
    """

    def __init__(self, logits: int, features: FeatureTensors) -> None:
        self._logits = _create_unsized_variable("logits", [None, logits], tf.float32)
        self._trees = _create_unsized_variable("trees", [], tf.int32)
        self._size = logits
        now = _compute_fingerprint(features)
        self._last = _create_unsized_variable("fingerprint", now.shape.as_list(), tf.uint8)
        self._count = _create_unsized_variable("batches", [], tf.int32)
        self._is_new = self._compare_with_last_batch(now)
        with tf.control_dependencies([self._is_new]):
            self.batches = self._count.read_value()

    def _compare_with_last_batch(self, fingerprint: tf.Tensor) -> tf.Tensor:
        """Clears the logits if the features differ from those of the last batch.

        Returns:
          Whether they differ, bool.
        """

        @tf.function(autograph=False)
        def compare() -> tf.Tensor:
            is_new = tf.reduce_any(tf.not_equal(fingerprint, self._last.read_value()))
            tf.cond(is_new, lambda: self._begin_batch(fingerprint), lambda: False)
            return is_new

        return compare()

    def _begin_batch(self, fingerprint: tf.Tensor) -> bool:
        self._last.assign(fingerprint)
        self._count.assign_add(1)
        self._logits.assign(tf.zeros([0, self._size]))
        self._trees.assign(0)
        return True

    def compute_bucket_ids(self, compute: Callable[[], tf.Tensor], features: int) -> tf.Tensor:
        """Returns the buckets of the batch, computed only if the last batch was another one.

        Args:
          compute: Computes the buckets, int32 [batch, features].
          features: Number of features.
        """
        kept = _create_unsized_variable("bucket_ids", [None, features], tf.int32)

        @tf.function(autograph=False)
        def read_or_compute() -> tf.Tensor:
            tf.cond(self._is_new, lambda: _assign(kept, compute()), lambda: True)
            return kept.read_value()

        ids = read_or_compute()
        ids.set_shape([None, features])
        return ids

    def update_logits(
        self,
        finished: tf.Tensor,
        rows: tf.Tensor,
        add_trees: Callable[[tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor],
    ) -> tf.Tensor:
        """Returns the logits by the finished trees.

        Args:
          finished: Number of finished trees.
          rows: Number of examples.
          add_trees: Function of two numbers of trees and logits: adds the logits of the trees from
            the first number up to the second, exclusive, to the logits.
        """

        @tf.function(autograph=False)
        def read_or_compute() -> tf.Tensor:
            known = tf.shape(self._logits.read_value())[0] > 0
            start = tf.cond(known, self._logits.read_value, lambda: tf.zeros([rows, self._size]))
            logits = add_trees(self._trees.read_value(), finished, start)
            self._logits.assign(logits)
            self._trees.assign(finished)
            return logits

        with tf.control_dependencies([self._is_new]):
            logits = read_or_compute()
        logits.set_shape([None, self._size])
        return logits


class WarnOfSeveralBatchesHook(tf.compat.v1.train.SessionRunHook):
    """Hook that warns if the second step of a training in memory has another batch than the first.

    Args:
      batches: See `ExampleCache`.
    """

    def __init__(self, batches: tf.Tensor) -> None:
        self._batches = batches
        self._steps = 0

    def steps_until_due(self, global_step: int) -> int | None:
        """Returns 1 for the first two steps."""
        return 1 if self._steps < 2 else None

    def before_run(self, run_context: Any) -> Any:
        """Requests the number of batches at the first two steps."""
        return _v1.train.SessionRunArgs(self._batches) if self._steps < 2 else None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Logs a warning if both steps had their own batch."""
        self._steps += 1
        if self._steps == 2 and run_values.results > 1:
            _LOG.warning(
                "train_in_memory=True expects one batch with all examples, but the second batch "
                "differs from the first: each layer uses one batch, as with train_in_memory=False. "
                "Return all examples in one batch and in one order, or set train_in_memory=False "
                "and n_batches_per_layer."
            )


def _compute_fingerprint(features: FeatureTensors) -> tf.Tensor:
    """Returns a fingerprint of the values and shapes of all features, uint8 of a fixed size.

    It takes a fiftieth of the time of computing the buckets.
    """
    tensors = tf.nest.flatten(dict(features), expand_composites=True)
    parts = [tf.constant(len(tensors)), *tensors, *map(tf.shape, tensors)]
    rows = [tf.reshape(part, [1, -1]) for part in parts]
    return tf.concat([tf.raw_ops.Fingerprint(data=row, method="farmhash64") for row in rows], 1)[0]


def _assign(variable: tf.Variable, value: tf.Tensor) -> bool:
    variable.assign(value)
    return True


def _create_unsized_variable(name: str, shape: list[int | None], dtype: tf.DType) -> tf.Variable:
    """Creates a variable of zeros that checkpoints do not contain; None in shape is 0 rows."""
    return _v1.Variable(
        tf.zeros([size or 0 for size in shape], dtype),
        name=f"memory/{name}",
        shape=shape,
        trainable=False,
        use_resource=True,
        collections=[_v1.GraphKeys.LOCAL_VARIABLES],
    )
