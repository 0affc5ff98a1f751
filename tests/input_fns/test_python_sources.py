"""Rows from Python: pandas frames, generators, and TensorFlow Datasets by name.

These tests cover `memory/frames.py`, `memory/tfds.py` and `pipeline/batching.py`.
"""

import sys
import types
from collections import namedtuple

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from input_fns import generator, pandas_frame, tfds

FRAME = pd.DataFrame(
    {
        "n": [1, 2, 3],
        "x": [0.5, 1.5, np.nan],
        "s": ["a", "bb", ""],
        "i": pd.array([7, 8, 9], "Int64"),
    }
)


def test_columns_of_a_frame_become_features_and_labels(elements):
    ((features, labels),) = elements(lambda: pandas_frame(FRAME, "n", num_epochs=1))
    np.testing.assert_array_equal(labels, [1, 2, 3])
    np.testing.assert_array_equal(features["x"], FRAME["x"])
    assert features["s"].tolist() == [b"a", b"bb", b""]
    assert features["i"].tolist() == [7, 8, 9]
    ((features, labels),) = elements(lambda: pandas_frame(FRAME, ["n", "i"], num_epochs=1))
    assert list(features) == ["s", "x"] or set(features) == {"s", "x"}
    assert labels["i"].tolist() == [7, 8, 9]
    (features,) = elements(lambda: pandas_frame(FRAME, num_epochs=1))
    assert set(features) == {"n", "x", "s", "i"}


def test_bad_frames_are_rejected():
    with pytest.raises(ValueError, match="There is no column 'y': the columns are n, x, s, i"):
        pandas_frame(FRAME, "y")
    with pytest.raises(ValueError, match=r"Column 's' has no value in 1 row\(s\)"):
        pandas_frame(pd.DataFrame({"s": ["a", None]}))
    with pytest.raises(TypeError, match="frame must be a pandas.DataFrame, but got list"):
        pandas_frame([1])
    with pytest.raises(ValueError, match="at least one row"):
        pandas_frame(FRAME[:0])
    with pytest.raises(ValueError, match="different names, but a appear twice"):
        pandas_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))


class Column:
    """A column with the methods of polars, which the tests do not install."""

    def __init__(self, values, missing):
        self._values, self._missing, self.dtype = np.array(values), missing, self

    def is_float(self):
        return self._values.dtype.kind == "f" and not self._missing

    def is_null(self):
        return np.array([self._missing, False])

    def to_numpy(self):
        return self._values


class Frame(dict):
    columns = property(list)


def test_frames_of_polars_are_read(elements):
    frame = Frame(
        n=Column([1, 2], False), x=Column([0.5, np.nan], False), s=Column(["a", "b"], False)
    )
    ((features, labels),) = elements(lambda: pandas_frame(frame, "n", num_epochs=1))
    assert (labels.tolist(), features["s"].tolist()) == ([1, 2], [b"a", b"b"])
    np.testing.assert_array_equal(features["x"], [0.5, np.nan])
    with pytest.raises(ValueError, match=r"Column 'n' has no value in 1 row"):
        # Integers with a missing value are floats of NumPy.
        pandas_frame(Frame(n=Column([np.nan, 2.0], True)))


def test_a_frame_of_expressions_is_rejected():
    with pytest.raises(TypeError, match=r"pandas or polars, but got \S+\.Frame: use input_fns.fra"):
        pandas_frame(Frame(n=object()))


def test_a_lazy_frame_is_rejected():
    class LazyFrame:
        pass

    with pytest.raises(TypeError, match=r"call its collect\(\)"):
        pandas_frame(LazyFrame())


def rows():
    for number in range(10):
        yield {"x": np.float32([number, 0])}, number


def test_rows_of_a_generator_are_batched(elements):
    found = elements(lambda: generator(rows, batch_size=4, num_epochs=2))
    labels = np.concatenate([labels for _, labels in found])
    np.testing.assert_array_equal(labels, [*range(10), *range(10)])
    assert found[0][0]["x"].shape == (4, 2)
    shuffled = elements(lambda: generator(rows, shuffle=True, seed=1, num_epochs=1))[0][1]
    assert list(shuffled) != sorted(shuffled) == [*range(10)]


def test_rows_of_a_generator_are_shared_among_pipelines(elements):
    found = []
    for number in range(3):
        context = tf.distribute.InputContext(3, number)
        ((_, labels),) = elements(
            lambda context=context: generator(rows, num_epochs=1, input_context=context)
        )
        found += list(labels)
    assert sorted(found) == [*range(10)]


def test_bad_generators_are_rejected():
    with pytest.raises(ValueError, match="yields nothing"):
        generator(lambda: iter(()))
    with pytest.raises(TypeError, match="must return an iterable when called"):
        generator([1, 2])
    with pytest.raises(ValueError, match="not cached"):
        generator(rows, cache="memory")


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([3, 2**40 + 7], None),
        ([3, np.int64(2**31)], tf.int32),
        ([[3, 4], [3, -1]], tf.uint8),
        ([3, 0.5], tf.int64),
        ([3, np.float32("nan")], tf.int32),
        ([3, np.uint64(2**63)], tf.int64),
    ],
)
def test_a_number_that_the_type_of_a_generator_does_not_hold_is_an_error(elements, values, dtype):
    def read():
        yield from (({"x": value}, 1) for value in values)

    shape = np.shape(values[0])
    label = tf.TensorSpec([], tf.int64)
    signature = dtype and ({"x": tf.TensorSpec(shape, dtype)}, label)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"row\[0\]\['x'\] has the number"):
        elements(lambda: generator(read, signature, num_epochs=1))


@pytest.mark.parametrize(
    ("rows", "dtype", "error"),
    [
        ([1.5, 2**24 + 1], None, "number 16777217, which float32"),
        ([1.5, np.int64(2**24 + 1)], None, "number 16777217, which float32"),
        ([np.float64(1.5), 2**53 + 1], None, "number 9007199254740993, which float64"),
        ([[0.5, 1.5], [2**53 + 1, 0.5]], None, "number 9007199254740993, which float32"),
        ([[0.5, 1.5], [1e300, 1]], None, r"number 1e\+300, which float32"),
        ([np.float32(1), 1e300], None, r"number 1e\+300, which float32"),
        ([1.0, 70000.0], tf.float16, "number 70000.0, which float16"),
        (
            [np.arange(2), np.array([1, 2**60 + 1])],
            tf.float32,
            f"number {2**60 + 1}, which float32",
        ),
        ([True, 2], None, "number 2, which bool"),
        ([np.ma.array([1, 2], mask=[0, 1])], None, r"row has masked values: fill them"),
    ],
)
def test_a_number_that_a_float_of_a_generator_does_not_hold(elements, rows, dtype, error):
    signature = None if dtype is None else tf.TensorSpec(np.shape(rows[0]), dtype)
    with pytest.raises(tf.errors.InvalidArgumentError, match=error):
        elements(lambda: generator(lambda: rows, signature, num_epochs=1))


def test_lists_in_rows_of_a_generator_are_arrays(elements):
    Row = namedtuple("Row", "a b")
    rows = [
        Row({"x": [1, 2], "s": [b"a\0", b"b"]}, [[0.1], [2]]),
        Row({"x": [3, 4], "s": ["c", "d"]}, [[5], [6]]),
    ]
    (found,) = elements(lambda: generator(lambda: rows, batch_size=2, num_epochs=1))
    assert found.a["x"].tolist() == [[1, 2], [3, 4]]
    assert found.a["s"].tolist() == [[b"a\0", b"b"], [b"c", b"d"]]
    assert found.b.tolist() == [[[np.float32(0.1)], [2]], [[5], [6]]]
    (first,) = elements(lambda: generator(lambda: [[1, 2], [3, 4]], batch_size=2, num_epochs=1))
    assert first.tolist() == [[1, 2], [3, 4]]


def test_numbers_that_the_type_of_a_generator_holds_are_converted(elements):
    def read():
        yield 2.0, [1, 255], 7
        yield np.uint64(3), np.int64([0, 2]), np.int8(4)

    specs = (tf.TensorSpec([], tf.int32), tf.TensorSpec([2], tf.uint8), tf.TensorSpec([]))
    ((first, second, third),) = elements(lambda: generator(read, specs, num_epochs=1))
    assert (first.tolist(), second.tolist(), third.tolist()) == ([2, 3], [[1, 255], [0, 2]], [7, 4])


def test_without_tensorflow_datasets_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow_datasets", None)
    with pytest.raises(ImportError, match="pip install tensorflow-datasets"):
        tfds("mnist")


def test_a_data_set_by_name_is_shuffled_and_batched(monkeypatch):
    def load(name, **arguments):
        assert (name, arguments["split"], arguments["shuffle_files"]) == ("numbers", "test", True)
        return tf.data.Dataset.range(20)

    package = types.ModuleType("tensorflow_datasets")
    package.load = load
    monkeypatch.setitem(sys.modules, "tensorflow_datasets", package)
    (batch,) = tfds("numbers", "test", shuffle=True, num_epochs=1)
    assert list(batch.numpy()) != sorted(batch.numpy()) == [*range(20)]
