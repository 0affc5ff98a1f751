"""Stand-in for `tf.contrib.graph_editor`: the selection of tensors."""

import tensorflow as tf

__all__ = ["get_tensors"]


def get_tensors(graph: tf.Graph) -> list[tf.Tensor]:
    """Returns the tensors of a graph.

    Raises:
      TypeError: The argument is no graph.
    """
    if not isinstance(graph, tf.Graph):
        raise TypeError(f"Expected a graph, got: {type(graph)}")
    return [tensor for operation in graph.get_operations() for tensor in operation.outputs]
