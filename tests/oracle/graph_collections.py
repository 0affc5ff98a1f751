"""Sizes of the collections of a graph."""

from __future__ import annotations

import tensorflow as tf

Sizes = dict[str, int]


def sizes(graph: tf.Graph) -> Sizes:
    """Returns the size of each collection with a name."""
    names = [name for name in graph.collections if isinstance(name, str)]
    return {name: len(graph.get_collection(name)) for name in names}


def added(before: Sizes, after: Sizes) -> Sizes:
    """Returns by how many entries collections have grown, without those that have not."""
    grown = {name: size - before.get(name, 0) for name, size in after.items()}
    return {name: size for name, size in sorted(grown.items()) if size}
