"""Files of one table with columns that differ."""

import pandas as pd
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tensorflow as tf

from input_fns import parquet


def write(folder, *tables):
    """Writes tables of pyarrow, pandas or polars as files of a folder, in this order."""
    for number, table in enumerate(tables):
        path = folder / f"{number}.parquet"
        if isinstance(table, pa.Table):
            pq.write_table(table, path)
        else:
            getattr(table, "to_parquet" if isinstance(table, pd.DataFrame) else "write_parquet")(
                path
            )
    return folder


def read(elements, folder, **settings):
    found = elements(lambda: parquet(folder, num_epochs=1, batch_size=10, **settings))
    (batch,) = found
    return {name: [*values.tolist()] for name, values in batch.items()}


WORDS = [
    pd.DataFrame({"x": ["a", "b"]}),
    pd.DataFrame({"x": ["a", "b"]}).astype("category"),
    polars.DataFrame({"x": ["a", "b"]}),
    pa.table({"x": ["a", "b"]}),
]


@pytest.mark.parametrize("first", range(len(WORDS)))
def test_text_of_several_writers(elements, tmp_path, first):
    folder = write(tmp_path, WORDS[first], *WORDS)
    assert read(elements, folder) == {"x": [b"a", b"b"] * 5}
    assert read(elements, folder, vocabularies={"x": ["b", "a"]}) == {"x": [1, 0] * 5}


@pytest.mark.parametrize("order", [1, -1])
def test_a_file_without_a_value(elements, tmp_path, order):
    tables = [pd.DataFrame({"x": [None]}), pd.DataFrame({"x": ["a"]})][::order]
    found = read(elements, write(tmp_path, *tables), defaults={"x": "?"})
    assert found == {"x": [b"?", b"a"][::order]}


@pytest.mark.parametrize("order", [1, -1])
def test_numbers_of_several_types(elements, tmp_path, order):
    tables = [pa.table({"x": pa.array([7], pa.int32())}), pa.table({"x": [2.0, None]})][::order]
    folder = write(tmp_path, *tables)
    with pytest.raises(ValueError, match=r"1\.parquet, column x .*: give its type in types"):
        parquet(folder)
    settings = {"types": {"x": tf.int64}, "defaults": {"x": -1}}
    assert sorted(read(elements, folder, **settings)["x"]) == [-1, 2, 7]


def test_integers_that_the_common_type_cannot_hold_are_an_error(tmp_path):
    folder = write(tmp_path, pa.table({"x": [1.5]}), pa.table({"x": [2**53 + 1]}))
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        list(parquet(folder, types={"x": tf.float64}, num_epochs=1))
    assert "1.parquet, row group 0: column x cannot become double: Integer" in error.value.message


def test_a_column_that_later_files_lack(elements, tmp_path):
    first = pa.table({"id": [1], "x": ["a"], "s": [{"y": 1}]})
    folder = write(tmp_path, first, pa.table({"id": [2]}))
    with pytest.raises(ValueError, match=r"1\.parquet has no column 'x', .* value in defaults"):
        parquet(folder)
    defaults = {"x": "?", "s.y": 0}
    expected = {"id": [1, 2], "x": [b"a", b"?"], "s.y": [1, 0]}
    assert read(elements, folder, defaults=defaults) == expected
    assert read(elements, folder, select=["id"]) == {"id": [1, 2]}
    numbers = read(elements, folder, defaults={"x": "a"}, select=["x"], vocabularies={"x": ["a"]})
    assert numbers == {"x": [0, 0]}


@pytest.mark.parametrize("unit", ["ms", "us"])
def test_times_of_another_unit_are_an_error(tmp_path, unit):
    other = pa.timestamp(unit, None if unit == "ms" else "UTC")
    tables = [pa.table({"x": pa.array([0], kind)}) for kind in (pa.timestamp("us"), other)]
    with pytest.raises(ValueError, match="expected timestamp.* write the files again"):
        parquet(write(tmp_path, *tables))


def test_two_columns_of_one_name_in_a_later_file(tmp_path):
    twice = pa.Table.from_arrays([pa.array([1])] * 2, names=["x", "x"])
    folder = write(tmp_path, pa.table({"x": [1]}), twice)
    with pytest.raises(ValueError, match=r"1\.parquet has two columns with the name 'x'"):
        parquet(folder)
