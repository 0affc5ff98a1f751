"""Cache of buckets and logits of the examples, for a training whose batch contains all data."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

_v1 = tf.compat.v1


class ExampleCache:
    """Buckets of the examples, and their logits by the finished trees.

    Checkpoints do not contain the cache, since the trees determine its values.

    Args:
      logits: Number of logits.
    """

    def __init__(self, logits: int) -> None:
        self._logits = _create_unsized_variable("logits", [None, logits], tf.float32)
        self._trees = _create_unsized_variable("trees", [], tf.int32)
        self._size = logits

    def compute_bucket_ids(self, compute: Callable[[], tf.Tensor], features: int) -> tf.Tensor:
        """Returns the buckets of the batch, which only the first step computes.

        Args:
          compute: Computes the buckets, int32 [batch, features].
          features: Number of features.
        """
        kept = _create_unsized_variable("bucket_ids", [None, features], tf.int32)

        @tf.function(autograph=False)
        def read_or_compute() -> tf.Tensor:
            first = tf.equal(tf.shape(kept.read_value())[0], 0)
            tf.cond(first, lambda: _assign(kept, compute()), lambda: True)
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

        logits = read_or_compute()
        logits.set_shape([None, self._size])
        return logits


def _assign(variable: tf.Variable, value: tf.Tensor) -> bool:
    variable.assign(value)
    return True


def _create_unsized_variable(name: str, shape: list[int | None], dtype: tf.DType) -> tf.Variable:
    """Creates a variable without rows that checkpoints do not contain."""
    return _v1.Variable(
        tf.zeros([size or 0 for size in shape], dtype),
        name=f"memory/{name}",
        shape=shape,
        trainable=False,
        use_resource=True,
        collections=[_v1.GraphKeys.LOCAL_VARIABLES],
    )
