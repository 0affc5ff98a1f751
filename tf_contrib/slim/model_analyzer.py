"""Stand-in for `tf.contrib.slim.model_analyzer`: sizes of variables and operations."""

import math
from collections.abc import Iterable
from typing import Any

import tensorflow as tf

_LINE = "---------"


def tensor_description(var: Any) -> str:
    """Returns the type and shape of a tensor or variable, such as `(float32 ?x3)`."""
    dtype = var.dtype.name
    if isinstance(var, tf.Variable) and not dtype.endswith("_ref"):
        dtype += "_ref"  # TensorFlow 1 has reference variables.
    sizes = ["?" if size is None else str(size) for size in var.shape.as_list()]
    return f"({dtype} {'x'.join(sizes)})"


def analyze_ops(graph: tf.Graph, print_info: bool = False) -> int:
    """Returns the number of elements that the operations of a graph compute.

    Args:
      graph: The graph.
      print_info: Whether to print a line for each operation.

    Returns:
      The number of elements of the outputs whose shapes are known.
    """
    if print_info:
        print(_LINE)
        print("Operations: name -> (type shapes) [size]")
        print(_LINE)
    total = 0
    for operation in graph.get_operations():
        known = [output for output in operation.outputs if output.shape.rank is not None]
        # An unknown dimension counts as 0.
        size = sum(math.prod(each or 0 for each in output.shape.as_list()) for output in known)
        total += size
        if print_info:
            texts = ", ".join(tensor_description(output) for output in known)
            print(operation.name, "\t->", texts, f"[{size}]")
    return total


def analyze_vars(variables: Iterable[Any], print_info: bool = False) -> tuple[int, int]:
    """Returns the sizes of variables.

    Args:
      variables: The variables.
      print_info: Whether to print a line for each variable, and the sums.

    Returns:
      The number of elements of all, and the number of their bytes.
    """
    if print_info:
        print(_LINE)
        print("Variables: name (type shape) [size]")
        print(_LINE)
    total = total_bytes = 0
    for variable in variables:
        size = math.prod(variable.shape.as_list())
        size_bytes = size * variable.dtype.size
        total, total_bytes = total + size, total_bytes + size_bytes
        if print_info:
            description = tensor_description(variable)
            print(variable.name, description, f"[{size}, bytes: {size_bytes}]")
    if print_info:
        print(f"Total size of variables: {total}")
        print(f"Total bytes of variables: {total_bytes}")
    return total, total_bytes
