"""Inputs in which nothing can be tuned start without the thread that would tune them.

tf.data gives each iterator a thread that measures its stages and chooses their parallelism and
buffers. To end an iterator it waits for that thread, which sleeps for up to a minute and may miss
that it is woken; measuring also takes a part of each element's time.
"""

from typing import Any

import tensorflow as tf

from estimator_train.engine.inputs.dataset_kinds import datasets_before, kind_named, kind_of
from estimator_train.engine.inputs.whole_batches import in_whole_batches

# Those that tf.data neither tunes nor makes parallel by itself.
_FILES = {"FixedLengthRecord", "TextLine", "TFRecord"}
_VALUES = {"Generator", "Range", "Tensor", "TensorSlice"}
_ARRANGED = {"AssertCardinality", "Concatenate", "Repeat", "Shard", "Skip", "Take", "Zip"}
_COLLECTED = {"Batch", "PaddedBatch", "Shuffle", "ShuffleAndRepeat"}
_UNTUNED = _FILES | _VALUES | _ARRANGED | _COLLECTED
_FLAT_MAP = "FlatMap"
_READ_AHEAD = 2


def untuned(initializer: Any, iterator: Any, has_few_rows: bool = False) -> Any:
    """The start of an iterator without tuning, where nothing in its dataset could be tuned.

    It is made once the model is: operations that come before the model would change its seeds.

    Args:
      initializer: What starts the iterator, in the default graph.
      iterator: The iterator, or a strategy's, which starts otherwise.
      has_few_rows: Whether it starts so often, with so little to read, that it is not to begin
        with a function that cuts whole batches.

    Returns:
      Another operation that starts it, or `initializer` itself.
    """
    if getattr(initializer, "type", None) != "MakeIterator":
        return initializer
    dataset, handle = initializer.inputs
    operations = list(datasets_before(dataset.op))
    functions = _functions_of(operations)
    is_prefetched = kind_of(dataset.op) == "Prefetch"
    if not all(map(_cannot_be_tuned, operations)) or functions is None:
        return initializer
    options = tf.data.Options()
    options.autotune.enabled = False
    with tf.device("/cpu:0"), tf.name_scope("untuned"):
        batches = None if has_few_rows else in_whole_batches(dataset.op)
        if batches is not None:  # There is nothing to optimize in them, and looking takes time.
            options.experimental_optimization.apply_default_optimizations = False
            dataset = tf.data.experimental.to_variant(batches)
        result = tf.data.experimental.from_variant(dataset, iterator.element_spec)
        # With tuning, tf.data adds this stage itself, but for datasets that call Python.
        result = result if is_prefetched or functions else result.prefetch(_READ_AHEAD)
        variant = tf.data.experimental.to_variant(result.with_options(options))
        return tf.raw_ops.MakeIterator(dataset=variant, iterator=handle)


def _cannot_be_tuned(operation: tf.Operation) -> bool:
    kind = kind_of(operation)
    if kind == "Prefetch":
        size = tf.get_static_value(operation.inputs[1])
        return size is not None and size >= 0
    return kind == _FLAT_MAP or kind in _UNTUNED


def _functions_of(operations: list[tf.Operation]) -> set[str] | None:
    """The functions that datasets call; None if a dataset in one of them might be tuned."""
    calls = [operation for operation in operations if kind_of(operation) == _FLAT_MAP]
    found = {operation.get_attr("f").name for operation in calls}
    if not found:
        return found
    library = operations[0].graph.as_graph_def().library
    bodies = {function.signature.name: function.node_def for function in library.function}
    kinds = {kind_named(node.op) for name in found for node in bodies[name] if "Dataset" in node.op}
    return found if kinds <= _UNTUNED else None
