"""Start of an input in each session: in whole batches and without autotuning where possible.

tf.data gives each iterator a thread that measures its stages and tunes their parallelism and
buffers. To end an iterator it waits for that thread, which sleeps for up to a minute and may miss
its wake-up; the measurements also slow down each element. A dataset without tunable stages starts
without autotuning.

`Dataset.from_tensor_slices(arrays).shuffle(b, seed).repeat(k).batch(n)` copies each row out of each
array, and then the rows into a batch. The same stages over row numbers shuffle in the same order,
because the order depends on the seeds only. One gather from each array then makes the batch.
Without a stage before `batch`, a slice of n rows makes the batch, without a copy.
"""

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_train.engine.inputs.input_fn import Inputs
from estimator_train.engine.types import Hook, PassiveHook
from estimator_train.goodput import INPUT, process_clock

_KIND = re.compile(r"(\w+?)Dataset(V\d+)?")
# Stages that tf.data neither tunes nor makes parallel.
_FILES = {"FixedLengthRecord", "TextLine", "TFRecord"}
_VALUES = {"Generator", "Range", "Tensor", "TensorSlice"}
_ARRANGED = {"AssertCardinality", "Concatenate", "Repeat", "Shard", "Skip", "Take", "Zip"}
_GROUPED = {"Batch", "PaddedBatch", "Shuffle", "ShuffleAndRepeat"}
_UNTUNABLE = _FILES | _VALUES | _ARRANGED | _GROUPED
_FLAT_MAP = "FlatMap"
_READ_AHEAD = 2
# Below this size a function that makes a batch takes longer than the copies of its rows.
_MIN_BATCH = 8
# Stages whose order depends on the number of elements, not on their values.
_ORDERS = {"Repeat", "Shard", "Shuffle", "ShuffleAndRepeat", "Skip", "Take"}
# By the type of an operation, the index of the input that is the number of repetitions.
_COUNT_INPUTS = {"RepeatDataset": 1, "ShuffleAndRepeatDataset": 4, "ShuffleAndRepeatDatasetV2": 2}
# Stages that may end although the dataset that they read does not.
_ENDING = {"AssertCardinality", "Take", "TakeWhile"}
_NO_ARRAYS = (tf.variant, tf.resource)


def start_hooks(inputs: Inputs) -> list[Hook]:
    """Returns the hooks that start an input in each new session."""
    if inputs.iterator is None:
        return []
    start = InitializeInputHook(inputs)
    return [start] if inputs.rounds is None else [start, inputs.rounds.make_hook()]


class InitializeInputHook(PassiveHook):
    """Hook that runs a dataset iterator's initializer in every new session.

    The session has initialized its tables before: a dataset may read them.

    Args:
      inputs: The input, a dataset's.
    """

    def __init__(self, inputs: Inputs) -> None:
        self._initializer, self._iterator = inputs.initializer, inputs.iterator

    def begin(self) -> None:
        """Turns off autotuning if the dataset has nothing to tune."""
        self._initializer = optimize_start(self._initializer, self._iterator)

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Rewinds the input to its start."""
        del coord
        with process_clock.spend(INPUT):
            session.run(self._initializer)


def optimize_start(initializer: Any, iterator: Any, has_few_rows: bool = False) -> Any:
    """Returns an initializer with whole batches, and without autotuning if it tunes nothing.

    Called after the model is built: earlier operations would change the model's seeds.

    Args:
      initializer: The operation that starts the iterator, in the default graph.
      iterator: The iterator; that of a strategy is left unchanged.
      has_few_rows: Whether the input is too small for whole batches.

    Returns:
      The new operation, or `initializer` itself.
    """
    if getattr(initializer, "type", None) != "MakeIterator":
        return initializer
    dataset, handle = initializer.inputs
    with tf.device("/cpu:0"), tf.name_scope("optimized"):
        batches = None if has_few_rows else make_whole_batches(dataset.op)
        if _has_nothing_to_tune(dataset.op):
            dataset = _disable_autotune(dataset, batches, iterator.element_spec)
        elif batches is not None:
            dataset = batches
        else:
            return initializer
        return tf.raw_ops.MakeIterator(dataset=dataset, iterator=handle)


def _disable_autotune(dataset: tf.Tensor, batches: tf.Tensor | None, spec: Any) -> tf.Tensor:
    """Returns a dataset, or that of its whole batches, with options that disable autotuning."""
    options = tf.data.Options()
    options.autotune.enabled = False
    if batches is not None:  # Optimizations find nothing here, and take time.
        options.experimental_optimization.apply_default_optimizations = False
    result = tf.data.experimental.from_variant(dataset if batches is None else batches, spec)
    # Autotuning would add this stage, except to datasets that call Python.
    if find_kind(dataset.op.type) != "Prefetch" and not any(
        map(_calls_function, find_datasets(dataset.op))
    ):
        result = result.prefetch(_READ_AHEAD)
    return tf.data.experimental.to_variant(result.with_options(options))


def _has_nothing_to_tune(dataset: tf.Operation) -> bool:
    operations = list(find_datasets(dataset))
    if not all(map(_cannot_be_tuned, operations)):
        return False
    names = {op.get_attr("f").name for op in operations if _calls_function(op)}
    library = dataset.graph.as_graph_def().library if names else tf.compat.v1.GraphDef().library
    called = [function for function in library.function if function.signature.name in names]
    kinds = {find_kind(node.op) for one in called for node in one.node_def if "Dataset" in node.op}
    return kinds <= _UNTUNABLE


def _cannot_be_tuned(operation: tf.Operation) -> bool:
    kind = find_kind(operation.type)
    if kind == "Prefetch":
        size = tf.get_static_value(operation.inputs[1])
        return size is not None and size >= 0
    return kind == _FLAT_MAP or kind in _UNTUNABLE


def _calls_function(operation: tf.Operation) -> bool:
    return find_kind(operation.type) == _FLAT_MAP


@dataclasses.dataclass(frozen=True)
class RowBatches:
    """Operations that create a dataset of batches of the rows of arrays.

    Attributes:
      source: Creates the rows, from its inputs, the arrays.
      orders: Arrange the rows; the last is the first after `source`.
      batch: Creates the batches.
      size: Number of rows in a batch.
      drops: Whether a smaller last batch is dropped.
      later: The stages after `batch`; the last is the first after it.
    """

    source: tf.Operation
    orders: list[tf.Operation]
    batch: tf.Operation
    size: int
    drops: bool
    later: list[tf.Operation]


def find_row_batches(operation: tf.Operation) -> RowBatches | None:
    """Returns the batches of rows of arrays from which a dataset is made; None without them.

    Args:
      operation: The operation that creates a dataset.
    """
    *stages, source = _find_stages(operation)
    batches = [number for number, stage in enumerate(stages) if find_kind(stage.type) == "Batch"]
    if not batches or find_kind(source.type) != "TensorSlice":
        return None
    later, batch, orders = stages[: batches[-1]], stages[batches[-1]], stages[batches[-1] + 1 :]
    size, drops = map(tf.get_static_value, batch.inputs[1:3])
    is_known = size is not None and drops is not None and size >= _MIN_BATCH
    has_arrays = not any(array.dtype in _NO_ARRAYS for array in source.inputs)
    if not (is_known and has_arrays and all(find_kind(stage.type) in _ORDERS for stage in orders)):
        return None
    return RowBatches(source, orders, batch, int(size), bool(drops), later)


def make_whole_batches(operation: tf.Operation) -> tf.Tensor | None:
    """Adds a dataset with the same elements, whose batches are made as a whole.

    Args:
      operation: The operation that creates a dataset, in the default graph.

    Returns:
      The variant of the new dataset; None if the dataset has no batches of rows of arrays.
    """
    found = find_row_batches(operation)
    if found is None:
        return None
    result = _gather_batches(found) if found.orders else _slice_batches(found)
    for stage in reversed(found.later):
        result = _copy_stage(stage, result)
    return result


def _find_stages(operation: tf.Operation) -> Iterator[tf.Operation]:
    """Yields an operation that creates a dataset, and those before it that have one consumer."""
    yield operation
    while len(sources := _list_sources(operation)) == 1:
        (operation,) = sources
        yield operation


def _gather_batches(batches: RowBatches) -> tf.Tensor:
    """Returns batches whose rows are gathered in the order of the stages before `batch`."""
    numbers = arrange_rows(batches).batch(batches.size, batches.drops)

    @tf.function(autograph=False)
    def gather_rows(rows: tf.Tensor, *arrays: tf.Tensor) -> list[tf.Tensor]:
        return [tf.gather(array, rows) for array in arrays]

    return _map(numbers, gather_rows, batches)


def arrange_rows(batches: RowBatches) -> tf.data.Dataset:
    """Returns a dataset of the numbers of the rows, in the order of the stages before `batch`."""
    rows = tf.data.Dataset.range(_count_rows(batches.source))
    result = tf.data.experimental.to_variant(rows)
    number = {name: result.op.node_def.attr[name] for name in ("output_types", "output_shapes")}
    for stage in reversed(batches.orders):
        result = _copy_stage(stage, result, **number)
    return tf.data.experimental.from_variant(result, rows.element_spec)


def _slice_batches(batches: RowBatches) -> tf.Tensor:
    """Returns batches that are slices of the arrays."""
    rows, size = _count_rows(batches.source), batches.size
    starts = tf.data.Dataset.range(0, rows - rows % size if batches.drops else rows, size)

    @tf.function(autograph=False)
    def slice_rows(start: tf.Tensor, *arrays: tf.Tensor) -> list[tf.Tensor]:
        return [array[start : start + size] for array in arrays]

    return _map(starts, slice_rows, batches)


def _count_rows(source: tf.Operation) -> tf.Tensor:
    return tf.shape(source.inputs[0], out_type=tf.int64)[0]


def _map(
    numbers: tf.data.Dataset,
    make_batch: tf.types.experimental.PolymorphicFunction,
    batches: RowBatches,
) -> tf.Tensor:
    """Returns a dataset of the batches that a function makes of row numbers and the arrays.

    One thread runs the function: to hand its few operations to a pool takes five times as long.
    """
    arrays = list(batches.source.inputs)
    specs = [tf.TensorSpec(array.shape, array.dtype) for array in arrays]
    return tf.raw_ops.MapDataset(
        input_dataset=tf.data.experimental.to_variant(numbers),
        other_arguments=arrays,
        f=make_batch.get_concrete_function(numbers.element_spec, *specs),
        output_types=batches.batch.get_attr("output_types"),
        output_shapes=batches.batch.get_attr("output_shapes"),
        use_inter_op_parallelism=False,
        preserve_cardinality=True,
    )


def _copy_stage(
    stage: tf.Operation, source: tf.Tensor, **attributes: tf.compat.v1.AttrValue
) -> tf.Tensor:
    """Returns a dataset that differs from another in its source, and in some attributes."""
    kept = {name: value for name, value in stage.node_def.attr.items() if name != "_class"}
    copy = tf.compat.v1.get_default_graph().create_op(
        stage.type,
        [source if tensor.dtype == tf.variant else tensor for tensor in stage.inputs],
        [tf.variant],
        attrs={**kept, **attributes},
    )
    return copy.outputs[0]


def find_kind(operation_type: str) -> str | None:
    """Returns the kind of dataset that operations of a type create, such as "Batch", or None."""
    found = _KIND.fullmatch(operation_type)
    return found[1] if found else None


def _list_sources(operation: tf.Operation) -> list[tf.Operation]:
    """Returns the operations that create the datasets which an operation reads."""
    return [tensor.op for tensor in operation.inputs if tensor.dtype == tf.variant]


def find_datasets(operation: tf.Operation) -> Iterator[tf.Operation]:
    """Yields an operation that creates a dataset, and those of the datasets that it reads."""
    yield operation
    for source in _list_sources(operation):
        yield from find_datasets(source)


def starts_endless(initializer: tf.Operation | None) -> bool:
    """Returns whether an operation starts a dataset that is known to repeat its rows for ever.

    Args:
      initializer: The operation; None if there is no dataset, and the group of operations of a
        dataset that a strategy distributes, are not known.
    """
    if initializer is None or getattr(initializer, "type", None) != "MakeIterator":
        return False
    return is_endless(initializer.inputs[0].op)


def is_endless(operation: tf.Operation) -> bool:
    """Returns whether a dataset is known to repeat its rows for ever.

    Args:
      operation: The operation that creates the dataset.
    """
    if find_kind(operation.type) in _ENDING:
        return False
    count = _COUNT_INPUTS.get(operation.type)
    if count is not None and tf.get_static_value(operation.inputs[count]) == -1:
        return True
    sources = _list_sources(operation)
    return bool(sources) and all(map(is_endless, sources))
