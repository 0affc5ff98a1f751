"""The result of a copy: which operation and tensor became which."""

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from tf_contrib.graph_editor._types import Node
from tf_contrib.graph_editor.copying import CopiedPart


class TransformerInfo:
    """Result of a copy: maps the operations and tensors to their copies.

    Args:
      info: The copied part.
    """

    def __init__(self, info: CopiedPart) -> None:
        self._graph, self._graph_ = info.graph, info.graph_
        self._scope, self._scope_ = info.scope, info.scope_
        # Programs of the time read these two.
        self._transformed_ops = info.transformed_ops
        self._transformed_ts = info.transformed_ts

    def transformed(self, original: Any, missing_fn: Callable[[Node], Any] | None = None) -> Any:
        """Returns the copies of operations and tensors.

        Args:
          original: Operations and tensors in lists, tuples and dicts.
          missing_fn: Returns the result for one that was not copied; by default None.

        Raises:
          TypeError: An element is neither an operation nor a tensor.
        """
        return _look_up(original, {**self._transformed_ops, **self._transformed_ts}, missing_fn)

    def original(self, transformed: Any, missing_fn: Callable[[Node], Any] | None = None) -> Any:
        """Returns the operations and tensors of which others are copies.

        Args:
          transformed: Operations and tensors in lists, tuples and dicts.
          missing_fn: Returns the result for one that is no copy; by default None.

        Raises:
          TypeError: An element is neither an operation nor a tensor.
        """
        copies = {**self._transformed_ops, **self._transformed_ts}
        originals = {made: original for original, made in copies.items()}
        return _look_up(transformed, originals, missing_fn)

    def __str__(self) -> str:
        lines = ["Transform result info:"]
        if self._graph is self._graph_:
            in_place = " IN-PLACE" if self._scope_ == self._scope else ""
            lines.append(f"  Within graph[{id(self._graph)}]{in_place}")
        else:
            lines.append(f"  graph[{id(self._graph)}] => graph[{id(self._graph_)}]")
        if self._scope:
            lines.append(f"  Relative to source scope: {self._scope}")
        if self._scope_:
            lines.append(f"  Scope destination: {self._scope_}")
        lines.append("Operations mapping:")
        lines += [f"  {op.name} => {copied.name}" for op, copied in self._transformed_ops.items()]
        return "\n".join([*lines, ""])


def _look_up(nodes: Any, found: Mapping[Any, Any], missing: Callable[[Node], Any] | None) -> Any:
    def find(node: Any) -> Any:
        if not isinstance(node, (tf.Operation, tf.Tensor)):
            raise TypeError(f"Expected a tf.Tensor or a tf.Operation, got a {type(node)}")
        if node not in found and missing is not None:
            return missing(node)
        return found.get(node)

    return tf.nest.map_structure(find, nodes)
