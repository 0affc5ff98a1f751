"""Eager code inside a graph or a strategy's replica."""

import contextlib
from collections.abc import Iterator

import tensorflow as tf

from estimator_train.engine.tf_internals.modes import enter_eager_mode


@contextlib.contextmanager
def enter_eager_scope(outside: tf.Graph | None = None) -> Iterator[None]:
    """Runs eager code, outside of the graph and the strategy that it is called in.

    Args:
      outside: An empty graph that callers reuse if they call this often; by default a new one.
    """
    # A graph holds its strategy, devices and creators of variables.
    graph = tf.Graph() if outside is None else outside
    with graph.as_default(), enter_eager_mode():
        yield
