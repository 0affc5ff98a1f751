"""Inputs in which nothing can be tuned start without the thread that would tune them.

tf.data gives each iterator a thread that measures its stages and chooses their parallelism and
buffers. To end an iterator it waits for that thread, which sleeps for up to a minute and may miss
that it is woken; measuring also takes a part of each element's time.
"""

import re
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

# Those that tf.data neither tunes nor makes parallel by itself.
_FILES = {"FixedLengthRecord", "TextLine", "TFRecord"}
_VALUES = {"Generator", "Range", "Tensor", "TensorSlice"}
_ARRANGED = {"AssertCardinality", "Concatenate", "Repeat", "Shard", "Skip", "Take", "Zip"}
_COLLECTED = {"Batch", "PaddedBatch", "Shuffle", "ShuffleAndRepeat"}
_UNTUNED = _FILES | _VALUES | _ARRANGED | _COLLECTED
_FLAT_MAP = "FlatMap"
_KIND = re.compile(r"(\w+?)Dataset(V\d+)?")
_READ_AHEAD = 2


def untuned(initializer: Any, iterator: Any) -> Any:
    """The start of an iterator without tuning, where nothing in its dataset could be tuned.

    It is made once the model is: operations that come before the model would change its seeds.

    Args:
      initializer: What starts the iterator, in the default graph.
      iterator: The iterator, or a strategy's, which starts otherwise.

    Returns:
      Another operation that starts it, or `initializer` itself.
    """
    if getattr(initializer, "type", None) != "MakeIterator":
        return initializer
    dataset, handle = initializer.inputs
    operations = list(_datasets_before(dataset.op))
    functions = _functions_of(operations)
    is_prefetched = _kind(dataset.op.type) == "Prefetch"
    if not all(map(_cannot_be_tuned, operations)) or functions is None:
        return initializer
    options = tf.data.Options()
    options.autotune.enabled = False
    result = tf.data.experimental.from_variant(dataset, iterator.element_spec)
    with tf.device("/cpu:0"), tf.name_scope("untuned"):
        # With tuning, tf.data adds this stage itself, but for datasets that call Python.
        result = result if is_prefetched or functions else result.prefetch(_READ_AHEAD)
        variant = tf.data.experimental.to_variant(result.with_options(options))
        return tf.raw_ops.MakeIterator(dataset=variant, iterator=handle)


def _datasets_before(operation: tf.Operation) -> Iterator[tf.Operation]:
    """An operation that makes a dataset, and those that make the datasets that it reads."""
    yield operation
    for tensor in operation.inputs:
        if tensor.dtype == tf.variant:
            yield from _datasets_before(tensor.op)


def _kind(operation_type: str) -> str | None:
    found = _KIND.fullmatch(operation_type)
    return found[1] if found else None


def _cannot_be_tuned(operation: tf.Operation) -> bool:
    kind = _kind(operation.type)
    if kind == "Prefetch":
        size = tf.get_static_value(operation.inputs[1])
        return size is not None and size >= 0
    return kind == _FLAT_MAP or kind in _UNTUNED


def _functions_of(operations: list[tf.Operation]) -> set[str] | None:
    """The functions that datasets call; None if a dataset in one of them might be tuned."""
    calls = [operation for operation in operations if _kind(operation.type) == _FLAT_MAP]
    found = {operation.get_attr("f").name for operation in calls}
    if not found:
        return found
    library = operations[0].graph.as_graph_def().library
    bodies = {function.signature.name: function.node_def for function in library.function}
    kinds = {_kind(node.op) for name in found for node in bodies[name] if "Dataset" in node.op}
    return found if kinds <= _UNTUNED else None
