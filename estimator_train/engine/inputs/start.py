"""The start of a dataset in a session, without autotuning and with sliced batches where possible.

tf.data gives each iterator a thread that measures its stages and tunes their parallelism and
buffers. To end an iterator it waits for that thread, which sleeps for up to a minute and may miss
its wake-up; the measurements also slow down each element. A dataset without tunable stages starts
without autotuning.

`Dataset.from_tensor_slices(arrays).batch(n)` copies each row out of each array and then the rows
into a batch. A slice of n rows of each array gives the same batch with one copy.
"""

import re
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_train.engine.hook_types import Hook, PassiveHook
from estimator_train.engine.inputs.input_fn import Inputs
from estimator_train.goodput.clock import INPUT, process_clock

_KIND = re.compile(r"(\w+?)Dataset(V\d+)?")
# Stages that tf.data neither tunes nor makes parallel.
_FILES = {"FixedLengthRecord", "TextLine", "TFRecord"}
_VALUES = {"Generator", "Range", "Tensor", "TensorSlice"}
_ARRANGED = {"AssertCardinality", "Concatenate", "Repeat", "Shard", "Skip", "Take", "Zip"}
_GROUPED = {"Batch", "PaddedBatch", "Shuffle", "ShuffleAndRepeat"}
_UNTUNABLE = _FILES | _VALUES | _ARRANGED | _GROUPED
_FLAT_MAP = "FlatMap"
_READ_AHEAD = 2
# Below these sizes the start of the slicing function takes longer than it gains.
_MIN_BATCH = 8
_MIN_ROWS = 10_000
# Stages that may follow the batches, each a method of datasets with one argument.
_AFTER_BATCH = {"Prefetch": "prefetch", "Repeat": "repeat", "Skip": "skip", "Take": "take"}


def start_hooks(inputs: Inputs) -> list[Hook]:
    """Returns the hooks that start an input in each new session."""
    return [] if inputs.iterator is None else [InitializeInput(inputs)]


class InitializeInput(PassiveHook):
    """Hook that runs a dataset iterator's initializer in every new session.

    The session has initialized its tables before: a dataset may read them.

    Args:
      inputs: The input, a dataset's.
    """

    def __init__(self, inputs: Inputs) -> None:
        self._initializer, self._iterator = inputs.initializer, inputs.iterator

    def begin(self) -> None:
        """Turns off autotuning if the dataset has nothing to tune."""
        self._initializer = without_autotune(self._initializer, self._iterator)

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Rewinds the input to its start."""
        del coord
        with process_clock.spend(INPUT):
            session.run(self._initializer)


def without_autotune(initializer: Any, iterator: Any, has_few_rows: bool = False) -> Any:
    """Returns an initializer without autotuning, if the dataset has nothing to tune.

    Called after the model is built: earlier operations would change the model's seeds.

    Args:
      initializer: The operation that starts the iterator, in the default graph.
      iterator: The iterator; that of a strategy is left unchanged.
      has_few_rows: Whether the input is too small for sliced batches.

    Returns:
      The new operation, or `initializer` itself.
    """
    if getattr(initializer, "type", None) != "MakeIterator":
        return initializer
    dataset, handle = initializer.inputs
    operations = list(find_datasets(dataset.op))
    functions = _functions_of(operations)
    is_prefetched = kind_of(dataset.op) == "Prefetch"
    if not all(map(_cannot_be_tuned, operations)) or functions is None:
        return initializer
    options = tf.data.Options()
    options.autotune.enabled = False
    with tf.device("/cpu:0"), tf.name_scope("untuned"):
        batches = None if has_few_rows else slice_batches(dataset.op)
        if batches is not None:  # Optimizations find nothing here, and take time.
            options.experimental_optimization.apply_default_optimizations = False
            dataset = tf.data.experimental.to_variant(batches)
        result = tf.data.experimental.from_variant(dataset, iterator.element_spec)
        # Autotuning would add this stage, except to datasets that call Python.
        result = result if is_prefetched or functions else result.prefetch(_READ_AHEAD)
        variant = tf.data.experimental.to_variant(result.with_options(options))
        return tf.raw_ops.MakeIterator(dataset=variant, iterator=handle)


def _cannot_be_tuned(operation: tf.Operation) -> bool:
    kind = kind_of(operation)
    if kind == "Prefetch":
        size = tf.get_static_value(operation.inputs[1])
        return size is not None and size >= 0
    return kind == _FLAT_MAP or kind in _UNTUNABLE


def _functions_of(operations: list[tf.Operation]) -> set[str] | None:
    """Returns the functions that datasets call; None if a function has a tunable dataset."""
    calls = [operation for operation in operations if kind_of(operation) == _FLAT_MAP]
    found = {operation.get_attr("f").name for operation in calls}
    if not found:
        return found
    library = operations[0].graph.as_graph_def().library
    bodies = {function.signature.name: function.node_def for function in library.function}
    kinds = {kind_named(node.op) for name in found for node in bodies[name] if "Dataset" in node.op}
    return found if kinds <= _UNTUNABLE else None


def has_many_rows(rows: int) -> bool:
    """Returns whether an input has enough rows to gain from sliced batches."""
    return rows >= _MIN_ROWS


def slice_batches(operation: tf.Operation) -> tf.data.Dataset | None:
    """Returns a dataset with the same batches, sliced from the arrays; None for other datasets.

    Args:
      operation: The operation that creates the dataset, in the default graph.

    Returns:
      A dataset of flat tuples: the components of the batches.
    """
    stages = []
    while (kind := kind_of(operation)) in _AFTER_BATCH:
        stages.append((_AFTER_BATCH[kind], operation.inputs[1]))
        operation = operation.inputs[0].op
    if kind != "Batch" or kind_of(operation.inputs[0].op) != "TensorSlice":
        return None
    size, drops = map(tf.get_static_value, operation.inputs[1:3])
    if size is None or drops is None or size < _MIN_BATCH:
        return None
    slices = operation.inputs[0].op
    if any(array.dtype in (tf.variant, tf.resource) for array in slices.inputs):
        return None
    result = _make_slices(slices, int(size), bool(drops))
    for method, argument in reversed(stages):
        result = getattr(result, method)(argument)
    return result


def _make_slices(slices: tf.Operation, size: int, drops: bool) -> tf.data.Dataset:
    """Returns slices of `size` rows; `drops` leaves out a shorter last one."""
    arrays = tuple(slices.inputs)
    shapes = [tf.TensorShape(shape) for shape in slices.get_attr("output_shapes")]
    rows = tf.shape(arrays[0], out_type=tf.int64)[0]

    def slice_at(start: tf.Tensor) -> tuple[tf.Tensor, ...]:
        parts = tuple(array[start : start + size] for array in arrays)
        for part, shape in zip(parts, shapes, strict=True):
            part.set_shape([size if drops else None, *shape])
        return parts

    return tf.data.Dataset.range(0, rows - rows % size if drops else rows, size).map(slice_at)


def kind_of(operation: tf.Operation) -> str | None:
    """Returns the kind of dataset that an operation creates, such as "Batch", or None."""
    return kind_named(operation.type)


def kind_named(operation_type: str) -> str | None:
    """Returns the kind of dataset that operations of a type create, or None."""
    found = _KIND.fullmatch(operation_type)
    return found[1] if found else None


def find_datasets(operation: tf.Operation) -> Iterator[tf.Operation]:
    """Yields an operation that creates a dataset, and those of the datasets that it reads."""
    yield operation
    for tensor in operation.inputs:
        if tensor.dtype == tf.variant:
            yield from find_datasets(tensor.op)
