"""What inputs that differ only in their values have in common: the form of their graph."""

import dataclasses
from collections.abc import Container, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

_SLICED = ("TensorSliceDataset", "TensorDataset")


@dataclasses.dataclass(frozen=True)
class InputForm:
    """The graph of a dataset, with placeholders for the values that it holds.

    Attributes:
      definition: The graph.
      values: Name of each placeholder to its values.
      key: Equal for graphs that do the same with values of any number of rows.
      has_state: Whether a function in it may go on from where an earlier input left it.
    """

    definition: tf.compat.v1.GraphDef
    values: Mapping[str, Any]
    key: bytes
    has_state: bool

    @property
    def rows(self) -> int:
        """How many rows the values have, all counted."""
        return sum(len(value) for value in self.values.values() if value.ndim)


def form_of(
    graph_def: tf.compat.v1.GraphDef, needed: Container[str], arrays: Mapping[str, np.ndarray]
) -> InputForm:
    """Takes the values out of a graph.

    Args:
      graph_def: The graph that a dataset was made in.
      needed: Names of the operations that it needs.
      arrays: The arrays that were kept out of it, by the operations that stand for them.
    """
    definition = tf.compat.v1.GraphDef(versions=graph_def.versions, library=graph_def.library)
    definition.node.extend(node for node in graph_def.node if node.name in needed)
    sliced = {
        source for node in definition.node if node.op in _SLICED for source in _sources_of(node)
    }
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
    return InputForm(definition, values, _key(definition), has_state)


def _sources_of(node: Any) -> list[str]:
    return [name.partition(":")[0] for name in node.input]


def _key(definition: tf.compat.v1.GraphDef) -> bytes:
    """The graph in bytes, but for the numbers that tell functions of the same name apart."""
    key = bytes(definition.SerializeToString(deterministic=True))
    names = {function.signature.name for function in definition.library.function}
    for number, name in enumerate(sorted(names, key=lambda name: (-len(name), name))):
        key = key.replace(name.encode(), b"function %d" % number)
    return key
