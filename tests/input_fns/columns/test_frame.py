"""Frames of pandas, polars and Arrow, and Hugging Face's datasets.

These tests cover `columns/arrow_types.py`, `columns/block_reader.py` and `columns/columns.py`.
"""

import datetime
import math

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
import tensorflow as tf

from input_fns import frame
from tests.input_fns.columns.arrow_tables import ROWS, ids, list_rows, list_values, make_table

NAN = math.nan


def test_the_rows_of_every_type_are_those_of_pyarrow(elements):
    table = make_table()
    found = list_rows(elements(lambda: frame(table, batch_size=64, num_epochs=1)))
    flat = table.flatten()
    for name, column in zip(flat.column_names, flat.columns, strict=True):
        assert found[name] == list_values(column), name


def test_missing_values_of_fixed_size_lists(elements):
    table = pa.table({"d": pa.array([[1, 2], None, [3, None]], pa.list_(pa.float32(), 2))})
    [batch] = elements(lambda: frame(table, defaults={"d": 0.5}, num_epochs=1))
    assert batch["d"].tolist() == [[1, 2], [0.5, 0.5], [3, 0.5]]


def test_a_shuffle_moves_rows_anywhere(elements):
    table = make_table().select(["id", "string", "list"])
    found = list_rows(
        elements(lambda: frame(table, batch_size=30, num_epochs=2, shuffle=True, seed=1))
    )
    order = found["id"]
    assert sorted(order[:ROWS]) == sorted(order[ROWS:]) == [*range(ROWS)]
    assert order[:ROWS] != order[ROWS:]
    assert max(abs(row - place) for place, row in enumerate(order[:ROWS])) > ROWS // 2
    assert found["string"] == [f"é{row}".encode() for row in order]
    assert found["list"] == [[*range(row % 4)] for row in order]


def test_workers_and_positions(elements, tmp_path, restored_elements):
    table = pa.table({"id": range(ROWS)})
    contexts = [tf.distribute.InputContext(2, index) for index in range(2)]
    parts = [
        ids(elements(lambda c=c: frame(table, shuffle=True, num_epochs=1, input_context=c)))
        for c in contexts
    ]
    assert sorted(parts[0]) == [*range(ROWS // 2)]
    assert sorted(parts[1]) == [*range(ROWS // 2, ROWS)]
    expected, actual = restored_elements(
        lambda: frame(table, batch_size=7, shuffle=True), tmp_path / "position", 50, 200
    )
    assert ids(actual) == ids(expected)


def test_columns_of_pandas(elements):
    rows = pd.DataFrame(
        {
            "numpy": np.array([1.5, NAN, 2.5]),
            "int32": np.array([1, 2, 3], np.int32),
            "nullable": pd.array([1, 2, None], "Int64"),
            "arrow": pd.array([1, 2, None], pd.ArrowDtype(pa.int16())),
            "text": ["a", "b", None],
            "category": pd.Categorical(["u", "v", "u"]),
            "numbers": pd.Categorical([20, 10, 20]),
            "time": pd.to_datetime(["2024-01-01"] * 3),
            "lists": [[1], [], [2, 3]],
        }
    )
    defaults = {"nullable": -1, "arrow": -1, "text": "?"}
    [batch] = elements(lambda: frame(rows, defaults=defaults, num_epochs=1))
    found = list_rows([batch])
    assert found["nullable"] == found["arrow"] == [1, 2, -1]
    assert found["text"] == [b"a", b"b", b"?"]
    assert found["category"] == [b"u", b"v", b"u"]
    assert found["numbers"] == [20, 10, 20]
    assert found["lists"] == [[1], [], [2, 3]]
    assert math.isnan(found["numpy"][1])
    assert batch["numpy"].dtype == np.float64
    assert batch["int32"].dtype == np.int32
    assert batch["nullable"].dtype == np.int64
    assert batch["arrow"].dtype == np.int16
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        elements(lambda: frame(rows, num_epochs=1))
    assert "pandas.DataFrame, row group 0, row 2: column nullable has no value" in str(error.value)


COLUMNS = {"id": [*range(50)], "day": [datetime.date(2024, 1, 1)] * 50, "list": [[1, 2], []] * 25}


class Interchange:
    """Object that has only the dataframe interchange protocol."""

    def __init__(self, table):
        self._table = table

    def __dataframe__(self, *arguments, **more):
        return self._table.__dataframe__(*arguments, **more)


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (pl.DataFrame, COLUMNS),
        (pa.table, COLUMNS),
        (lambda columns: pa.table(columns).to_batches()[0], COLUMNS),
        (lambda columns: pa.table(columns).to_reader(), COLUMNS),
        (datasets.Dataset.from_dict, COLUMNS),
        (lambda columns: duckdb.from_arrow(pa.table(columns)), COLUMNS),
        (lambda columns: Interchange(pa.table({"id": columns["id"]})), ["id"]),
    ],
)
def test_frames_of_other_packages(elements, make, names):
    source = make(COLUMNS)
    batches = elements(lambda: frame(source, batch_size=8, num_epochs=1))
    found = list_rows(batches)
    assert sorted(found) == sorted(names)
    for name in names:
        assert found[name] == list_values(pa.chunked_array([COLUMNS[name]]))


def test_selected_rows_of_a_dataset(elements):
    rows = datasets.Dataset.from_dict(COLUMNS).select([5, 3, 8])
    assert ids(elements(lambda: frame(rows, num_epochs=1))) == [5, 3, 8]


def test_the_format_of_a_dataset_chooses_its_columns(elements):
    rows = datasets.Dataset.from_dict(COLUMNS)
    only_ids = rows.with_format("numpy", columns=["id"])
    all_columns = rows.with_format("numpy", columns=["id"], output_all_columns=True)
    for source, names in ((only_ids, {"id"}), (all_columns, {*COLUMNS})):
        (batch, *_) = elements(lambda source=source: frame(source, num_epochs=1))
        assert {*batch} == names


def test_later_changes_are_not_read(elements):
    values = np.arange(1000)
    rows = pd.DataFrame({"id": values}, copy=False)

    def dataset():
        batches = frame(rows, batch_size=100, num_epochs=1)
        rows.iloc[:, 0] = -1
        values[:] = -1
        return batches

    assert ids(elements(dataset)) == [*range(1000)]


def test_frames_that_are_not_in_memory():
    with pytest.raises(TypeError, match=r"but got LazyFrame: call its collect\(\)"):
        frame(pl.DataFrame(COLUMNS).lazy())
    for column in (pl.Series("id", [1]), pd.Series([1], name="id")):
        with pytest.raises(TypeError, match=r"but got Series: call its to_frame\(\)"):
            frame(column)
        assert ids([*frame(column.to_frame(), num_epochs=1)]) == [1]
    rows = datasets.Dataset.from_dict(COLUMNS)
    with pytest.raises(TypeError, match="a Dataset with a transform.*use its map"):
        frame(rows.with_transform(lambda batch: batch))
    with pytest.raises(TypeError, match="but got DatasetDict: choose a split"):
        frame(datasets.DatasetDict({"train": datasets.Dataset.from_dict(COLUMNS)}))
    with pytest.raises(TypeError, match="a table of Arrow or a Dataset, but got dict"):
        frame({"x": [1]})
    connection = duckdb.connect()
    with pytest.raises(TypeError, match=r"but got DuckDBPyConnection: call its \w*arrow\w*\(\)"):
        frame(connection.execute("select 1"))
    with pytest.raises(TypeError, match=r"but got InMemoryDataset: call its to_table\(\)"):
        frame(pyarrow.dataset.dataset(pa.table(COLUMNS)))
    with pytest.raises(TypeError, match="Column 'x' has no type of Arrow"):
        frame(pd.DataFrame({"x": [1, "a"]}))
    with pytest.raises(
        TypeError, match="a type that pyarrow does not have: .*_pli128.*Cast or drop"
    ):
        frame(pl.DataFrame({"id": [1], "x": pl.Series([1], dtype=pl.Int128)}))
    with pytest.raises(ValueError, match=r"polars\.DataFrame has no rows"):
        frame(pl.DataFrame({"x": []}))
