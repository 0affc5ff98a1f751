"""Tables that cannot be read: one error with file, column and row group.

These tests cover `columns/table_files.py` and `columns/piece_reader.py`.
"""

import base64
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tensorflow as tf

from input_fns import arrow, parquet
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


@pytest.mark.parametrize(
    ("reader", "content", "advice"),
    [
        (arrow, b"PAR1", r"it is a Parquet file: use input_fns\.parquet"),
        (arrow, b"FEA1", r"it is Feather 1: .*input_fns\.frame\(pyarrow\.feather"),
        (parquet, b"ARROW1\0\0", r"it is an Arrow file: use input_fns\.arrow"),
        (parquet, b"ORC", r"it is an ORC file: .*input_fns\.frame\(pyarrow\.orc"),
        (parquet, b"Obj\x01", "it is an Avro file: .*fastavro"),
        (arrow, b"ARROW1\0\0", "get a fresh copy"),
    ],
)
def test_an_error_names_the_reader_of_another_format(tmp_path, reader, content, advice):
    (tmp_path / "x").write_bytes(content + b"?" * 100)
    with pytest.raises(ValueError, match=rf"/x cannot be read: .*; {advice}"):
        reader(tmp_path / "x")


@pytest.mark.parametrize("plaintext_footer", [False, True])
def test_an_error_says_that_a_file_is_encrypted(tmp_path, plaintext_footer):
    from pyarrow.parquet import encryption

    class Keys(encryption.KmsClient):
        def wrap_key(self, key_bytes, master_key_identifier):
            return base64.b64encode(key_bytes)

    factory = encryption.CryptoFactory(lambda connection: Keys())
    settings = encryption.EncryptionConfiguration(
        "footer", column_keys={"key": ["x"]}, plaintext_footer=plaintext_footer
    )
    keys = factory.file_encryption_properties(encryption.KmsConnectionConfig(), settings)
    rows = pa.table({"id": [1], "x": [2]})
    with pq.ParquetWriter(tmp_path / "a", rows.schema, encryption_properties=keys) as writer:
        writer.write_table(rows)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)) as error:
        list(parquet(tmp_path / "a", num_epochs=1))
    text = r"cannot be read: .*it is encrypted: .*read_table\(path, decryption_properties="
    assert re.search(text, str(error.value))
    if plaintext_footer:
        assert ids([*parquet(tmp_path / "a", select=["id"], num_epochs=1)]) == [1]


@pytest.mark.parametrize("values", [[1e6, 0.5], [[0.5], [1e6]], [[1e6, float("inf")]] * 2])
def test_a_number_that_a_shorter_float_does_not_hold(tmp_path, values):
    path = write(tmp_path, x=values, id=[1, 2])
    text = read_error(lambda: parquet(path, types={"x": tf.float16}, num_epochs=1))
    assert "column x cannot become float16: the value 1000000.0 is out of bounds" in text
    (found,) = parquet(path, types={"x": tf.float32}, num_epochs=1)
    assert found["id"].numpy().tolist() == [1, 2]


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
