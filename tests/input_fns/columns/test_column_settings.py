"""Types, defaults, vocabularies, padding and names of columns: their values, and their errors."""

import datetime
import decimal

import pandas as pd
import polars
import pyarrow as pa
import pytest
import tensorflow as tf

from input_fns import frame, pandas_frame

DAY = datetime.date(2024, 1, 1)
MOMENT = datetime.datetime(2024, 1, 1)


def read(values, **settings):
    batch = next(iter(frame(pa.table({"x": values}), num_epochs=1, **settings)))["x"]
    assert batch.dtype == settings.get("types", {}).get("x", batch.dtype)
    return batch.to_list() if isinstance(batch, tf.RaggedTensor) else batch.numpy().tolist()


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        (pa.array([[1.5], [2.0, 3.0]]), tf.float32, [[1.5], [2.0, 3.0]]),
        (pa.array([[[1], [2]], []]), tf.float32, [[[1.0], [2.0]], []]),
        (pa.array([[1.5, 2.0]], pa.list_(pa.float64(), 2)), tf.float32, [[1.5, 2.0]]),
        (pa.array([[1, 2], []]), tf.string, [[b"1", b"2"], []]),
        (pa.array([1, 2]), tf.string, [b"1", b"2"]),
        (pa.array([True, False]), tf.string, [b"true", b"false"]),
        (pa.array([2**53 + 1]).cast(pa.decimal128(38, 0)), tf.string, [b"9007199254740993"]),
        (pa.array([2**53 + 1]).cast(pa.decimal128(38, 0)), tf.int64, [9007199254740993]),
        (pa.array([b"\xff"]), tf.string, [b"\xff"]),
        (pa.array([DAY]), tf.string, [b"2024-01-01"]),
        (pa.array([DAY]), tf.int64, [19723]),
        (pa.array([DAY]), tf.float32, [19723.0]),
        (pa.array([MOMENT], pa.timestamp("s")), tf.float64, [1704067200.0]),
        (pa.array(["1", "2"]).dictionary_encode(), tf.int64, [1, 2]),
    ],
)
def test_types(values, dtype, expected):
    assert read(values, types={"x": dtype}) == expected


@pytest.mark.parametrize(
    ("values", "dtype", "value"),
    [
        (pa.array([1, 70_000]), tf.float16, "70000"),
        (pa.array([[1], [2049]]), tf.float16, "2049"),
        (pa.array([decimal.Decimal(10) ** 60], pa.decimal256(70, 0)), tf.float32, "1" + "0" * 60),
        (pa.array(["1", "inf", "1e60"]), tf.float32, "1e60"),
        (pa.array(["1e400"]).dictionary_encode(), tf.float64, "1e400"),
        (pa.array([0, 1, 2]), tf.bool, "2"),
        (pa.array([[1.0], [0.5]]), tf.bool, "0.5"),
        (pa.array([float("nan")]), tf.bool, "nan"),
    ],
)
def test_values_that_a_type_changes_are_an_error(values, dtype, value):
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        read(values, types={"x": dtype})
    assert f"column x cannot become {dtype.name}: " in str(error.value)
    assert f"value {value} is out of bounds" in str(error.value)


def test_values_that_a_type_holds():
    assert read(pa.array([0, 1, None]), types={"x": tf.bool}, defaults={"x": False}) == [0, 1, 0]
    assert read(pa.array(["inf", "-Infinity", "1"]), types={"x": tf.float32}) == [
        float("inf"),
        -float("inf"),
        1.0,
    ]
    assert read(pa.array([2048, -7]), types={"x": tf.float16}) == [2048.0, -7.0]
    assert read(pa.array([decimal.Decimal("1.5")]), types={"x": tf.float32}) == [1.5]


def test_vocabulary_of_the_words_in_lists():
    tags = pa.array([["a"], ["b", None, "c"], None])
    words = {"vocabularies": {"x": ["b", "a"]}, "defaults": {"x": "b"}}
    assert read(tags, **words) == [[1], [0, 0, 2], []]
    assert read(tags, **words, padding={"x": -1}) == [[1, -1, -1], [0, 0, 2], [-1, -1, -1]]
    pair = pa.array([["a", "z"]], pa.list_(pa.string(), 2))
    assert read(pair, vocabularies={"x": ["a"]}) == [[0, 1]]


@pytest.mark.parametrize(
    ("values", "settings", "error", "text"),
    [
        ([[1]], {"vocabularies": {"x": ["a"]}}, TypeError, r"vocabularies: .* column x of type"),
        ([1], {"vocabularies": {"x": ["a", 1]}}, TypeError, "column x of type int64: .*bytes"),
        ([1], {"types": {"x": tf.bfloat16}}, TypeError, "column x .* Arrow has no bfloat16"),
        (pa.array([b"ab"], pa.binary(2)), {"types": {"x": tf.int64}}, TypeError, "types: .*binary"),
        ([1, None], {"defaults": {"x": 1.5}}, ValueError, "has no value 1.5; the nearest is 1"),
        ([1, None], {"defaults": {"x": "a"}}, ValueError, "defaults: .* column x .* default 'a'"),
        (["a"], {"defaults": {"x": 1}}, ValueError, "defaults: .* column x .* default 1: "),
        ([[1]], {"padding": {"x": 0.5}}, ValueError, "padding: .* column x .* 0.5 is no int64"),
        ([["a"]], {"padding": {"x": 0}}, ValueError, "padding: .* column x .* 0 is no string"),
        ([None], {}, TypeError, "type null: all values are missing; give its type in types"),
        ([1], {"select": "x"}, TypeError, r"select must be a list of names, .* use \['x'\]"),
        ([1], {"ids": "x"}, TypeError, r"ids must be a list of names, but got 'x'"),
        ([1], {"label": ["x", "x"]}, ValueError, "label must name each column once"),
        ([1], {"label": 1}, TypeError, "label must be the name of a column .* but got 1"),
    ],
)
def test_settings_that_cannot_work_are_errors_of_the_call(values, settings, error, text):
    with pytest.raises(error, match=text):
        frame(pa.table({"x": values}), **settings)


def test_a_default_of_an_integer_column_may_be_a_whole_float():
    assert read([1, None], defaults={"x": 2.0}) == [1, 2]
    assert read([decimal.Decimal("0.5"), None], defaults={"x": 0.1}) == [0.5, 0.1]


def test_names_of_pandas_that_are_one_text():
    rows = pd.DataFrame({1: [1], "1": [2]})
    for read_frame in (frame, pandas_frame):
        with pytest.raises(ValueError, match="1"):
            read_frame(rows)
    with pytest.raises(ValueError, match="label must name each column once"):
        pandas_frame(pd.DataFrame({"x": [1], "y": [1]}), ["y", "y"])


def test_columns_of_frames_that_arrow_cannot_have_are_named():
    for values in ([2**70], [2**63 + 1, 1]):
        with pytest.raises(TypeError, match="Column 'x' has no type of Arrow: .* Convert it"):
            frame(pd.DataFrame({"x": pd.Series(values, dtype=object)}))


def test_objects_of_polars():
    rows = polars.DataFrame({"x": polars.Series([object()]), "y": [1]})
    with pytest.raises(TypeError, match="column 'x' of Python objects"):
        frame(rows)
    assert next(iter(frame(rows.drop("x"))))["y"].numpy()[0] == 1
