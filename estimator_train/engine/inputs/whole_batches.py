"""Rows of arrays that are only put into batches are taken out of the arrays a batch at a time.

`Dataset.from_tensor_slices(arrays).batch(n)` cuts each row out of each array and then copies the
rows together again. The same batches are n rows of each array as they lie there.
"""

import tensorflow as tf

from estimator_train.engine.inputs.dataset_kinds import kind_of

# Below them there is less to gain than the function that cuts takes to start.
_LEAST_BATCH = 8
_LEAST_ROWS = 10_000
# What may come after the batches, as a method of datasets with one argument.
_AFTER = {"Prefetch": "prefetch", "Repeat": "repeat", "Skip": "skip", "Take": "take"}


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
