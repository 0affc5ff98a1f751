"""Eager code from within a graph or a strategy's replica."""

import contextlib
from collections.abc import Iterator

import tensorflow as tf


@contextlib.contextmanager
def eagerly(outside: tf.Graph | None = None) -> Iterator[None]:
    """Within it code is eager, and in no graph and no strategy that is entered around it.

    Args:
      outside: An empty graph, for those who come often; by default a new one.
    """
    # Strategies, devices and creators of variables are noted on the graph that they are for.
    graph = tf.Graph() if outside is None else outside
    with graph.as_default(), tf.__internal__.eager_context.eager_mode():
        yield
