"""Tables that cannot be read: one error with file, column and row group.

These tests cover `columns/piece_reader.py`.
"""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tensorflow as tf

from input_fns import parquet
from tests.input_fns.columns.arrow_tables import ids


def write(folder, **columns):
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), folder / "a.parquet", row_group_size=10)
    return folder / "a.parquet"


def read_error(make_dataset):
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        list(make_dataset())
    return error.value.message


def test_a_missing_value_names_file_row_group_and_column(elements, tmp_path):
    path = write(tmp_path, id=range(25), x=[*range(17), None, *range(7)])
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        elements(lambda: parquet(path, num_epochs=1))
    text = error.value.message
    assert f"{path}, row group 1, row 7: column x has no value; give one" in text


def test_nan_in_an_id_column(tmp_path):
    path = write(tmp_path, x=[*map(float, range(14)), float("nan")])
    text = read_error(lambda: parquet(path, types={"x": tf.int64}, num_epochs=1))
    assert f"{path}, row group 1, row 4: column x cannot become int64" in text


def test_bad_rows_are_skipped_and_counted(elements, tmp_path):
    values = [None if row in (3, 17) else row for row in range(25)]
    path = write(tmp_path / "table", id=range(25), x=values)
    log = tmp_path / "bad"

    def dataset(**settings):
        return parquet(path, batch_size=5, num_epochs=1, on_bad_record="skip", **settings)

    batches = elements(lambda: dataset(bad_records_file=log))
    assert ids(batches) == [row for row in range(25) if row not in (3, 17)]
    assert [len(batch["id"]) for batch in batches] == [5, 5, 5, 5, 3]
    assert [line.split(": ")[0] for line in log.read_text().splitlines()] == [
        f"{path}, row group 0, row 3",
        f"{path}, row group 1, row 7",
    ]
    shuffled = elements(lambda: dataset(shuffle=True, buffer_size=10, max_bad_records=2))
    assert sorted(ids(shuffled)) == ids(batches)
    text = read_error(lambda: dataset(max_bad_records=1))
    assert "2 bad records are more than max_bad_records=1" in text


def damage(path, group):
    start = pq.ParquetFile(path).metadata.row_group(group).column(0).dictionary_page_offset
    data = bytearray(path.read_bytes())
    data[start : start + 30] = b"\xff" * 30
    path.write_bytes(data)


def test_a_damaged_row_group(elements, tmp_path):
    path = write(tmp_path, id=range(30), x=range(30))
    damage(path, 1)
    text = read_error(lambda: parquet(path, batch_size=10, num_epochs=1))
    assert f"{path}, row group 1, column id: cannot be read" in text
    batches = elements(
        lambda: parquet(path, batch_size=10, num_epochs=1, on_bad_record="skip", max_bad_records=1)
    )
    assert ids(batches) == [*range(10), *range(20, 30)]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"id,x\n1,2\n" * 10])
def test_a_foreign_or_empty_file(elements, tmp_path, content):
    write(tmp_path, id=range(5))
    (tmp_path / "b.parquet").write_bytes(content)
    with pytest.raises(ValueError, match=r"b\.parquet cannot be read: .*; get a fresh copy"):
        parquet(tmp_path)
    found = elements(lambda: parquet(tmp_path, num_epochs=1, on_bad_record="skip"))
    assert ids(found) == [*range(5)]


def test_a_file_that_is_cut_short(tmp_path):
    path = write(tmp_path, id=range(500))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"a\.parquet cannot be read"):
        parquet(path)


def test_columns_that_differ_between_files(tmp_path):
    write(tmp_path, id=range(5), x=range(5))
    pq.write_table(pa.table({"id": range(5), "x": ["a"] * 5}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b\.parquet, column x has type string, expected int64"):
        parquet(tmp_path)
    assert parquet(tmp_path, select=["id"]).element_spec.keys() == {"id"}
    pq.write_table(pa.table({"x": range(5)}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b\.parquet has no column 'id', which .*a\.parquet has"):
        parquet(tmp_path)


def test_a_column_that_does_not_exist(tmp_path):
    path = write(tmp_path, id=range(5))
    with pytest.raises(ValueError, match="label: .* has no column 'y': its columns are id"):
        parquet(path, "y")
    with pytest.raises(ValueError, match="select: .* has no column 'z'"):
        parquet(path, select=["z"])


def test_a_type_without_a_tensor(tmp_path):
    kind = pa.map_(pa.string(), pa.int64())
    path = write(tmp_path, id=range(2), x=pa.array([[("a", 1)], []], kind))
    with pytest.raises(TypeError, match=r"a\.parquet, column x of type map<string, int64.*select"):
        parquet(path)


def test_a_dictionary_that_grows_between_row_groups(tmp_path):
    kind = pa.schema([("x", pa.dictionary(pa.int32(), pa.string()))])
    with pq.ParquetWriter(tmp_path / "a.parquet", kind) as writer:
        for words in (["a", "b"], ["a", "b", "c"]):
            writer.write_table(pa.table([pa.array(words).dictionary_encode()], schema=kind))
    text = read_error(lambda: parquet(tmp_path, ids=["x"], batch_size=2, num_epochs=1))
    assert f"{tmp_path}/a.parquet, row group 1: column x has a dictionary of 3 values" in text
    batches = parquet(tmp_path, num_epochs=1).as_numpy_iterator()
    assert next(batches)["x"].tolist() == [b"a", b"b", b"a", b"b", b"c"]


def test_no_rows(tmp_path):
    path = write(tmp_path, id=pa.array([], pa.int64()))
    with pytest.raises(ValueError, match=r"a\.parquet has no rows\."):
        parquet(path)
    with pytest.raises(FileNotFoundError, match="No file matches"):
        parquet(tmp_path / "*.nothing")


def test_a_cache_file_is_refused(tmp_path):
    path = write(tmp_path, id=range(5))
    with pytest.raises(ValueError, match="tables are cached only in memory"):
        parquet(path, cache=str(tmp_path / "cache"))
