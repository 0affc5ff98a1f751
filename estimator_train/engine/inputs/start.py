"""How a dataset starts in a session: without tuning where nothing can be tuned, in whole batches.

tf.data gives each iterator a thread that measures its stages and chooses their parallelism and
buffers. To end an iterator it waits for that thread, which sleeps for up to a minute and may miss
that it is woken; measuring also takes a part of each element's time.

`Dataset.from_tensor_slices(arrays).batch(n)` cuts each row out of each array and then copies the
rows together again. The same batches are n rows of each array as they lie there.
"""

import re
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_train.engine.hook_types import Hook, PassiveHook
from estimator_train.engine.inputs.input_fn import Inputs

_KIND = re.compile(r"(\w+?)Dataset(V\d+)?")
# Those that tf.data neither tunes nor makes parallel by itself.
_FILES = {"FixedLengthRecord", "TextLine", "TFRecord"}
_VALUES = {"Generator", "Range", "Tensor", "TensorSlice"}
_ARRANGED = {"AssertCardinality", "Concatenate", "Repeat", "Shard", "Skip", "Take", "Zip"}
_COLLECTED = {"Batch", "PaddedBatch", "Shuffle", "ShuffleAndRepeat"}
_UNTUNED = _FILES | _VALUES | _ARRANGED | _COLLECTED
_FLAT_MAP = "FlatMap"
_READ_AHEAD = 2
# Below them there is less to gain than the function that cuts takes to start.
_LEAST_BATCH = 8
_LEAST_ROWS = 10_000
# What may come after the batches, as a method of datasets with one argument.
_AFTER = {"Prefetch": "prefetch", "Repeat": "repeat", "Skip": "skip", "Take": "take"}


def start_hooks(inputs: Inputs) -> list[Hook]:
    """Hooks that start an input in each new session."""
    return [] if inputs.iterator is None else [InitializeInput(inputs)]


class InitializeInput(PassiveHook):
    """Runs a dataset iterator's initializer in every new session.

    It comes after the session's own initialization, since a dataset may read lookup tables.

    Args:
      inputs: The input, a dataset's.
    """

    def __init__(self, inputs: Inputs) -> None:
        self._initializer, self._iterator = inputs.initializer, inputs.iterator

    def begin(self) -> None:
        """Looks whether the input needs to be tuned."""
        self._initializer = untuned(self._initializer, self._iterator)

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        """Rewinds the input to its start."""
        del coord
        session.run(self._initializer)


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


def are_many(rows: int) -> bool:
    """Whether so many rows are worth the function that cuts batches of them."""
    return rows >= _LEAST_ROWS


def in_whole_batches(operation: tf.Operation) -> tf.data.Dataset | None:
    """The same dataset, which cuts whole batches; None if it is of another form.

    Args:
      operation: What makes the dataset, in the default graph.

    Returns:
      A dataset of flat tuples: the components of the batches.
    """
    stages = []
    while (kind := kind_of(operation)) in _AFTER:
        stages.append((_AFTER[kind], operation.inputs[1]))
        operation = operation.inputs[0].op
    if kind != "Batch" or kind_of(operation.inputs[0].op) != "TensorSlice":
        return None
    size, drops = map(tf.get_static_value, operation.inputs[1:3])
    if size is None or drops is None or size < _LEAST_BATCH:
        return None
    slices = operation.inputs[0].op
    if any(array.dtype in (tf.variant, tf.resource) for array in slices.inputs):
        return None
    result = _batches(slices, int(size), bool(drops))
    for method, argument in reversed(stages):
        result = getattr(result, method)(argument)
    return result


def _batches(slices: tf.Operation, size: int, drops: bool) -> tf.data.Dataset:
    """The batches of the rows; without the last one if that `drops` where it is short."""
    arrays = tuple(slices.inputs)
    shapes = [tf.TensorShape(shape) for shape in slices.get_attr("output_shapes")]
    rows = tf.shape(arrays[0], out_type=tf.int64)[0]

    def cut(start: tf.Tensor) -> tuple[tf.Tensor, ...]:
        parts = tuple(array[start : start + size] for array in arrays)
        for part, shape in zip(parts, shapes, strict=True):
            part.set_shape([size if drops else None, *shape])
        return parts

    return tf.data.Dataset.range(0, rows - rows % size if drops else rows, size).map(cut)


def kind_of(operation: tf.Operation) -> str | None:
    """The kind of dataset that an operation makes, such as "Batch"; None if it makes none."""
    return kind_named(operation.type)


def kind_named(operation_type: str) -> str | None:
    """The kind of dataset that operations of a type make; None if they make none."""
    found = _KIND.fullmatch(operation_type)
    return found[1] if found else None


def datasets_before(operation: tf.Operation) -> Iterator[tf.Operation]:
    """An operation that makes a dataset, and those that make the datasets that it reads."""
    yield operation
    for tensor in operation.inputs:
        if tensor.dtype == tf.variant:
            yield from datasets_before(tensor.op)
