"""The form of an input: its graph without the values that it contains."""

import dataclasses
from collections.abc import Container, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

_SLICED = ("TensorSliceDataset", "TensorDataset")


@dataclasses.dataclass(frozen=True)
class InputForm:
    """Graph of a dataset, with placeholders for its values.

    Attributes:
      definition: The graph.
      values: Name of each placeholder to its values.
      key: Key of the graph, equal for graphs that differ only in their values.
      has_state: Whether a function of the graph may keep state from one input to the next.
    """

    definition: tf.compat.v1.GraphDef
    values: Mapping[str, Any]
    key: bytes
    has_state: bool

    @property
    def rows(self) -> int:
        """The total number of rows of all values."""
        return sum(len(value) for value in self.values.values() if value.ndim)


def extract_form(
    graph_def: tf.compat.v1.GraphDef, needed: Container[str], arrays: Mapping[str, np.ndarray]
) -> InputForm:
    """Returns the form of a dataset's graph.

    Args:
      graph_def: The graph that the dataset was built in.
      needed: Names of the operations that the dataset needs.
      arrays: The external arrays of the graph by the names of their operations.
    """
    definition = tf.compat.v1.GraphDef(versions=graph_def.versions, library=graph_def.library)
    definition.node.extend(node for node in graph_def.node if node.name in needed)
    slices = [node for node in definition.node if node.op in _SLICED]
    sliced = {name.partition(":")[0] for node in slices for name in node.input}
    values: dict[str, Any] = {}
    for node in definition.node:
        if node.name in arrays:
            dtype, values[node.name] = node.attr["Tout"].list.type[0], arrays[node.name]
        elif node.op == "Const" and node.name in sliced:
            dtype = node.attr["dtype"].type
            values[node.name] = tf.make_ndarray(node.attr["value"].tensor)
        else:
            continue
        node.op = "Placeholder"
        node.attr.clear()
        node.attr["dtype"].type = dtype
    has_state = any(function.signature.is_stateful for function in definition.library.function)
    return InputForm(definition, values, _make_key(definition), has_state)


def _make_key(definition: tf.compat.v1.GraphDef) -> bytes:
    """Returns the graph in bytes, with functions renumbered in the order of their names."""
    key = bytes(definition.SerializeToString(deterministic=True))
    names = {function.signature.name for function in definition.library.function}
    for number, name in enumerate(sorted(names, key=lambda name: (-len(name), name))):
        key = key.replace(name.encode(), b"function %d" % number)
    return key
