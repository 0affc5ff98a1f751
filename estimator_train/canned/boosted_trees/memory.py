"""What is remembered of the examples when all of them are trained in one batch."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

_v1 = tf.compat.v1


class Memory:
    """The buckets of the examples, and their logits by the finished trees.

    It is forgotten when the session ends: what it holds follows from the trees.

    Args:
      logits: How many logits there are.
    """

    def __init__(self, logits: int) -> None:
        self._logits = _unsized("logits", [None, logits], tf.float32)
        self._trees = _unsized("trees", [], tf.int32)
        self._size = logits

    def bucket_ids(self, compute: Callable[[], tf.Tensor], features: int) -> tf.Tensor:
        """Returns the buckets of the batch, computed for the first step alone.

        Args:
          compute: Computes them, int32 [batch, features].
          features: How many features there are.
        """
        kept = _unsized("bucket_ids", [None, features], tf.int32)

        @tf.function(autograph=False)
        def remembered() -> tf.Tensor:
            first = tf.equal(tf.shape(kept.read_value())[0], 0)
            tf.cond(first, lambda: _assigned(kept, compute()), lambda: True)
            return kept.read_value()

        ids = remembered()
        ids.set_shape([None, features])
        return ids

    def logits(
        self,
        finished: tf.Tensor,
        rows: tf.Tensor,
        added: Callable[[tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor],
    ) -> tf.Tensor:
        """Returns the logits by the finished trees.

        Args:
          finished: How many trees are finished.
          rows: How many examples there are.
          added: Function of the first tree, the one after the last, and logits, that adds the
            trees' to them.
        """

        @tf.function(autograph=False)
        def remembered() -> tf.Tensor:
            known = tf.shape(self._logits.read_value())[0] > 0
            start = tf.cond(known, self._logits.read_value, lambda: tf.zeros([rows, self._size]))
            logits = added(self._trees.read_value(), finished, start)
            self._logits.assign(logits)
            self._trees.assign(finished)
            return logits

        logits = remembered()
        logits.set_shape([None, self._size])
        return logits


def _assigned(variable: tf.Variable, value: tf.Tensor) -> bool:
    variable.assign(value)
    return True


def _unsized(name: str, shape: list[int | None], dtype: tf.DType) -> tf.Variable:
    """A variable that is not in checkpoints, with no rows to begin with."""
    return _v1.Variable(
        tf.zeros([size or 0 for size in shape], dtype),
        name=f"memory/{name}",
        shape=shape,
        trainable=False,
        use_resource=True,
        collections=[_v1.GraphKeys.LOCAL_VARIABLES],
    )
