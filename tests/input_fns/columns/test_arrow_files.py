"""Arrow's files and streams.

These tests cover `columns/arrow.py` and `columns/row_order.py`.
"""

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pytest
import tensorflow as tf

from input_fns import arrow
from tests.input_fns.columns.arrow_tables import ROWS, ids, list_rows, list_values, make_table


def write(path, table, rows, make_writer, **options):
    with pa.OSFile(str(path), "wb") as file, make_writer(file, table.schema, **options) as writer:
        writer.write_table(table, max_chunksize=rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A stream and a compressed file."""
    folder = tmp_path_factory.mktemp("arrow")
    table = make_table()
    write(folder / "a.arrows", table[:600], 130, pa.ipc.new_stream)
    pa.feather.write_feather(table[600:], folder / "b.feather", "zstd", chunksize=130)
    return folder


@pytest.mark.parametrize("shuffle", [False, True])
def test_the_rows_of_every_type_are_those_of_pyarrow(elements, folder, shuffle):
    found = list_rows(elements(lambda: arrow(folder, batch_size=64, num_epochs=1, shuffle=shuffle)))
    table = make_table().flatten()
    order = found["id"]
    assert sorted(order) == [*range(ROWS)]
    for name, column in zip(table.column_names, table.columns, strict=True):
        values = list_values(column)
        assert found[name] == [values[row] for row in order], name


def test_workers_divide_the_rows(elements, folder):
    contexts = [tf.distribute.InputContext(5, index) for index in range(5)]
    parts = [
        ids(elements(lambda c=c: arrow(folder, select=["id"], num_epochs=1, input_context=c)))
        for c in contexts
    ]
    assert [row for part in parts for row in part] == [*range(ROWS)]


def test_the_position_continues_exactly(folder, tmp_path, restored_elements):
    def dataset():
        return arrow(folder, select=["id", "category"], batch_size=31, shuffle=True, buffer_size=90)

    expected, actual = restored_elements(dataset, tmp_path / "position", before=50, after=30)
    assert list_rows(actual) == list_rows(expected)


def test_large_files_have_several_row_groups(tmp_path):
    from input_fns.columns.ipc_files import IpcFile

    table = pa.table({"id": np.arange(200_000)})
    write(tmp_path / "a.arrow", table, 40_000, pa.ipc.new_file)
    file = IpcFile(str(tmp_path / "a.arrow"))
    assert file.group_rows == [80_000, 80_000, 40_000]
    batches = file.iterate(1, ["id"], 1000)
    assert [batch["id"][0].as_py() for batch in batches] == [80_000, 120_000]


def test_a_stream_whose_dictionary_grows(elements, tmp_path):
    kind = pa.schema([("x", pa.dictionary(pa.int32(), pa.string()))])
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    with (
        pa.OSFile(str(tmp_path / "a.arrows"), "wb") as file,
        pa.ipc.new_stream(file, kind, options=options) as writer,
    ):
        for words in (["a", "b"], ["a", "b", "c"]):
            writer.write_table(pa.table([pa.array(words).dictionary_encode()], schema=kind))
    [batch] = elements(lambda: arrow(tmp_path, num_epochs=1))
    assert batch["x"].tolist() == [b"a", b"b", b"a", b"b", b"c"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="column x has a dictionary of 3"):
        elements(lambda: arrow(tmp_path, ids=["x"], num_epochs=1))


@pytest.mark.parametrize("make_writer", [pa.ipc.new_file, pa.ipc.new_stream])
def test_a_file_that_is_cut_short(tmp_path, make_writer):
    path = tmp_path / "a.arrow"
    write(path, pa.table({"id": range(1000)}), 100, make_writer)
    path.write_bytes(path.read_bytes()[:-600])
    with pytest.raises(ValueError, match=r"a\.arrow cannot be read: .*; get a fresh copy"):
        arrow(path)


def test_a_foreign_file(tmp_path):
    (tmp_path / "a.arrow").write_text("id\n1\n")
    with pytest.raises(ValueError, match=r"a\.arrow cannot be read"):
        arrow(tmp_path)
