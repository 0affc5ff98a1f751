"""Eager code from within a graph or a strategy's replica."""

import contextlib
from collections.abc import Iterator

import tensorflow as tf


@contextlib.contextmanager
def eagerly(outside: tf.Graph | None = None) -> Iterator[None]:
    """A context of eager code, outside of any graph and strategy that it is entered in.

    Args:
      outside: An empty graph, to be reused by callers that enter it often; by default a new one.
    """
    # Strategies, devices and creators of variables are noted on the graph that they are for.
    graph = tf.Graph() if outside is None else outside
    with graph.as_default(), tf.__internal__.eager_context.eager_mode():
        yield
