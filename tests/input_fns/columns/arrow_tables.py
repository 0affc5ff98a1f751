"""Tables with a column of every Arrow type that has a tensor, and the rows of batches."""

import datetime
import decimal

import numpy as np
import pyarrow as pa
import tensorflow as tf

ROWS = 1000


def make_table(rows=ROWS):
    numbers = range(rows)
    moments = [datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=n) for n in numbers]
    columns = {
        str(kind): pa.array([n % 100 for n in numbers], kind)
        for kind in (
            *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
            *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        )
    }
    return pa.table(
        {
            "id": pa.array(numbers, pa.int64()),
            **columns,
            "half": pa.array(np.arange(rows).astype(np.float16)),
            "float": pa.array([n / 3 for n in numbers], pa.float32()),
            "double": pa.array([n / 3 for n in numbers], pa.float64()),
            "bool": pa.array([n % 3 == 0 for n in numbers]),
            "string": pa.array([f"é{n}" for n in numbers]),
            "large_string": pa.array([f"{n}" for n in numbers], pa.large_string()),
            "binary": pa.array([b"\0%d\0" % n for n in numbers]),
            "fixed": pa.array([b"%04d" % n for n in numbers], pa.binary(4)),
            "category": pa.array([f"word {n % 7}" for n in numbers]).dictionary_encode(),
            "date": pa.array([moment.date() for moment in moments]),
            "timestamp": pa.array(moments, pa.timestamp("us")),
            "moment": pa.array(moments, pa.timestamp("ms", "UTC")),
            "time": pa.array([moment.time() for moment in moments], pa.time64("us")),
            "duration": pa.array([datetime.timedelta(days=n) for n in numbers]),
            "decimal": pa.array([decimal.Decimal(n) / 4 for n in numbers], pa.decimal128(12, 2)),
            "list": pa.array([[*range(n % 4)] for n in numbers], pa.list_(pa.int64())),
            "words": pa.array([["w"] * (n % 3) for n in numbers], pa.large_list(pa.string())),
            "nested": pa.array(
                [[[n] * k for k in range(n % 3)] for n in numbers], pa.list_(pa.list_(pa.int32()))
            ),
            "matrix": pa.array([[n, n + 1, n + 2] for n in numbers], pa.list_(pa.float32(), 3)),
            "struct": pa.array([{"a": n, "b": str(n)} for n in numbers]),
        }
    )


def list_values(column):
    """Returns the values of a column of pyarrow in the form in which tensors have them."""
    if pa.types.is_temporal(column.type):
        return column.cast(pa.int32() if column.type.bit_width == 32 else pa.int64()).to_pylist()
    values = column.to_pylist()
    return [_to_plain(value) for value in values]


def _to_plain(value):
    if isinstance(value, list):
        return [_to_plain(item) for item in value]
    if isinstance(value, str):
        return value.encode()
    return float(value) if isinstance(value, decimal.Decimal) else value


def _to_lists(values):
    """Returns lists of an array, also of one with the arrays of a ragged tensor."""
    if not isinstance(values, np.ndarray):
        return values
    return [_to_lists(value) for value in values] if values.dtype == object else values.tolist()


def list_rows(batches):
    """Returns the values of each feature in batches."""
    found = {}
    for batch in batches:
        features = batch[0] if isinstance(batch, tuple) else batch
        for name, values in features.items():
            if isinstance(values, (tf.RaggedTensor, tf.compat.v1.ragged.RaggedTensorValue)):
                rows = values.to_list()
            else:
                rows = _to_lists(values)
            found.setdefault(name, []).extend(rows)
    return found


def ids(batches):
    return list_rows(batches).get("id", [])
