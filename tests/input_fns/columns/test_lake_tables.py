"""Tables of Delta Lake and Iceberg, which the real packages write, are read in their version.

These tests cover `columns/field_ids.py`.
"""

import json
import struct

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import tensorflow as tf

import input_fns
from input_fns.columns import lake_tables

TABLE = pa.table({"id": range(100), "day": ["a b", "c/d"] * 50})
# The alphabet of Z85, in which Delta Lake writes bytes.
Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def read_ids(pattern, **options):
    batches = input_fns.parquet(pattern, batch_size=16, num_epochs=1, **options)
    return sorted(np.concatenate([batch["id"] for batch in batches.as_numpy_iterator()]))


@pytest.fixture
def write_delta(tmp_path):
    """Returns a function that writes a table of Delta Lake without its first three ids."""

    def write(folder, **options):
        import deltalake

        deltalake.write_deltalake(folder, TABLE, **options)
        deltalake.DeltaTable(folder).delete("id < 3")

    return write


@pytest.mark.long
@pytest.mark.parametrize("partition_by", [None, ["day"]])
def test_the_current_version_of_a_delta_table_is_read(
    write_delta, tmp_path, monkeypatch, partition_by
):
    write_delta(tmp_path / "rows", partition_by=partition_by)
    assert pq.read_table(tmp_path / "rows").num_rows > 97  # Files of both versions.
    monkeypatch.chdir(tmp_path)
    for path in (
        "rows",
        "rows/",
        str(tmp_path / "rows"),
        "ro*s",
        tmp_path / "rows",
        f"file://{tmp_path}/rows",
    ):
        assert read_ids(path) == [*range(3, 100)]
    batch = next(input_fns.parquet("rows", batch_size=97).as_numpy_iterator())
    days = {int(id_): day.decode() for id_, day in zip(batch["id"], batch["day"], strict=True)}
    assert days == {id_: ("a b", "c/d")[id_ % 2] for id_ in range(3, 100)}


def read_rows(folder, **options):
    """Returns the rows of a table without order, as a list for each of the columns."""
    (batch,) = input_fns.parquet(folder, batch_size=9, **options).as_numpy_iterator()
    rows = sorted(zip(*(values.tolist() for values in batch.values()), strict=True))
    return dict(zip(batch, map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.long
def test_partitions_of_a_delta_table_have_its_types_and_missing_values(tmp_path):
    import deltalake

    table = pa.table(
        {
            "id": [1, 2, 3],
            "zip": ["01234", "1234", None],
            "day": pa.array([0, 1, 2], pa.date32()),
            "half": [0.5, 1.5, 2.5],
        }
    )
    # A space in the path of the table is quoted in its URL.
    folder = tmp_path / "my rows"
    deltalake.write_deltalake(folder, table, partition_by=["zip", "day", "half"])
    found = read_rows(folder, defaults={"zip": "none"}, num_epochs=1)
    assert found == {
        "id": [1, 2, 3],
        "zip": [b"01234", b"1234", b"none"],
        "day": [0, 1, 2],
        "half": [0.5, 1.5, 2.5],
    }
    kept = read_rows(folder, select=["id"], row_filter=pc.field("zip") == "1234", num_epochs=1)
    assert kept == {"id": [2]}
    for year in (1, 2):
        deltalake.write_deltalake(tmp_path / f"year={year}", pa.table({"id": [year + 5]}))
    assert read_rows(tmp_path / "year=*", num_epochs=1) == {"id": [6, 7], "year": [1, 2]}


@pytest.mark.long
def test_a_column_that_a_delta_table_got_later_is_missing_in_older_files(tmp_path):
    import deltalake

    later = pa.table({"id": [2], "word": ["a"], "s": [{"a": 5}]})
    for rows in (pa.table({"id": [1]}), later):
        deltalake.write_deltalake(tmp_path, rows, mode="append", schema_mode="merge")
    # The names of files are random. In each order the column is found.
    found = read_rows(tmp_path, defaults={"word": "none", "s.a": -1}, num_epochs=1)
    assert found == {"id": [1, 2], "word": [b"none", b"a"], "s.a": [-1, 5]}
    with pytest.raises(tf.errors.InvalidArgumentError, match="column word has no value"):
        read_rows(tmp_path, select=["word"], num_epochs=1)


@pytest.mark.long
def test_an_error_names_a_delta_table_without_rows(write_delta, tmp_path):
    import deltalake

    write_delta(tmp_path / "rows")
    with pytest.raises(TypeError, match=r"DeltaTable: use input_fns\.parquet with the folder"):
        input_fns.frame(deltalake.DeltaTable(tmp_path / "rows"))
    deltalake.DeltaTable(tmp_path / "rows").delete()
    with pytest.raises(ValueError, match="rows is a table of Delta Lake without rows"):
        read_ids(tmp_path / "rows")
    write_delta(tmp_path / "rows_2")
    assert read_ids(tmp_path / "rows*") == [*range(3, 100)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("pattern", "partition_by"),
    [("*.parquet", None), ("day=*/*.parquet", ["day"]), ("day=*", ["day"]), ("day=b", ["day"])],
)
def test_single_files_of_a_delta_table_are_refused(write_delta, tmp_path, pattern, partition_by):
    write_delta(tmp_path / "rows", partition_by=partition_by)
    if pattern == "day=b":
        pattern = next((tmp_path / "rows").glob("day=*")).name
    with pytest.raises(ValueError, match=f"Use the path of its folder: {tmp_path}/rows$"):
        read_ids(tmp_path / "rows" / pattern)
    with pytest.raises(ValueError, match=r"rows is a table of Delta Lake.*Pass the folder of one"):
        read_ids(tmp_path)


def _write_deletion_vector(folder):
    """Deletes rows 0 and 1 of the only file of a table by a vector, as Spark does.

    The Delta protocol, "Deletion Vector Format": a magic number, the number of bitmaps, and for
    each its key and a Roaring bitmap, here of one container with an array of two numbers.
    """
    log = folder / "_delta_log"
    lines = (log / "00000000000000000000.json").read_text().splitlines()
    (add,) = [one["add"] for one in map(json.loads, lines) if "add" in one]
    bitmap = struct.pack("<IIHHIHH", 12346, 1, 0, 1, 16, 0, 1)
    content = struct.pack("<IQI", 1681511377, 1, 0) + bitmap
    text = ""
    for (number,) in struct.iter_unpack(">I", content):
        text += "".join(Z85[number // 85**place % 85] for place in (4, 3, 2, 1, 0))
    vector = {
        "storageType": "i",
        "pathOrInlineDv": text,
        "sizeInBytes": len(content),
        "cardinality": 2,
    }
    remove = {"path": add["path"], "dataChange": True, "deletionTimestamp": 0}
    actions = [{"remove": remove}, {"add": {**add, "deletionVector": vector}}]
    (log / "00000000000000000001.json").write_text("\n".join(map(json.dumps, actions)))


@pytest.mark.long
def test_a_delta_table_whose_files_have_other_rows_is_refused(tmp_path):
    import deltalake

    with_vectors = {"delta.enableDeletionVectors": "true"}
    deltalake.write_deltalake(tmp_path / "vectors", TABLE, configuration=with_vectors)
    assert read_ids(tmp_path / "vectors") == [*range(100)]
    _write_deletion_vector(tmp_path / "vectors")
    rows = deltalake.QueryBuilder().register("rows", deltalake.DeltaTable(tmp_path / "vectors"))
    kept = input_fns.frame(rows.execute("select * from rows"), batch_size=98, num_epochs=1)
    (batch,) = kept.as_numpy_iterator()
    assert sorted(batch["id"]) == [*range(2, 100)]
    with pytest.raises(ValueError, match=r"vectors is a table of Delta Lake with deletion vectors"):
        read_ids(tmp_path / "vectors")
    mapped = {"delta.columnMapping.mode": "name"}
    deltalake.write_deltalake(tmp_path / "mapped", TABLE, configuration=mapped)
    with pytest.raises(ValueError, match="mapped names of columns"):
        read_ids(tmp_path / "mapped")


@pytest.mark.long
def test_a_damaged_log_is_an_error_that_names_the_table(write_delta, tmp_path):
    write_delta(tmp_path / "rows")
    (tmp_path / "rows" / "_delta_log" / "00000000000000000001.json").write_text("{")
    with pytest.raises(ValueError, match=r"rows is a table of Delta Lake that cannot be read: "):
        read_ids(tmp_path / "rows")


@pytest.mark.long
def test_files_of_an_iceberg_table_are_read_from_the_list_of_pyiceberg(tmp_path):
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("n")
    table = catalog.create_table("n.rows", TABLE.schema)
    table.append(TABLE)
    table.delete("id < 3")
    for folder in (tmp_path, tmp_path / "n" / "rows"):
        with pytest.raises(ValueError, match=r"n/rows is a table of Iceberg.*plan_files\(\)"):
            read_ids(folder)
    for part in ("n/rows/data", "n/rows/data/*.parquet"):
        with pytest.raises(ValueError, match=r"earlier versions of a table of Iceberg.*plan_files"):
            read_ids(tmp_path / part)
    files = [task.file.file_path for task in table.scan().plan_files()]
    assert read_ids(files) == [*range(3, 100)]


@pytest.mark.long
def test_columns_of_an_iceberg_table_that_changed_their_names_are_refused(tmp_path):
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("n")
    columns = pa.table({"price": [1, 2], "cost": [10, 20], "id": [1, 2]})
    table = catalog.create_table("n.rows", columns.schema)
    table.append(columns)
    for old, new in (("price", "x"), ("cost", "price"), ("x", "cost")):
        with table.update_schema() as update:
            update.rename_column(old, new)
    table.append(pa.table({"cost": [3, 4], "price": [30, 40], "id": [3, 4]}))
    files = [task.file.file_path for task in table.scan().plan_files()]
    for options in ({}, {"select": ["id", "cost"]}, {"defaults": {"price": 0}}):
        with pytest.raises(
            ValueError, match=r"(cost|price) has the field id \d, expected .*to_arrow\(\)"
        ):
            read_ids(files, **options)
    with pytest.raises(ValueError, match="price has the field id"):
        read_ids(files, select=["id"], row_filter=pc.field("price") > 5)
    assert read_ids(files, select=["id"]) == [1, 2, 3, 4]
    for rows, call in ((table, r"scan\(\)\.to_arrow"), (table.scan(), "to_arrow")):
        with pytest.raises(TypeError, match=rf"call its {call}\(\)\.$"):
            input_fns.frame(rows)
    rows = input_fns.frame(table.scan().to_arrow(), batch_size=8, num_epochs=1)
    batch = next(rows.as_numpy_iterator())
    costs = dict(zip(batch["id"], batch["cost"], strict=True))
    assert costs == {1: 1, 2: 2, 3: 3, 4: 4}


@pytest.mark.parametrize(("writer", "is_read"), [("5.0.0", True), ("26.0.1", False)])
def test_field_ids_of_old_writers_that_follow_the_order_are_ignored(tmp_path, writer, is_read):
    def number(schema, numbers):
        pairs = zip(schema, numbers, strict=True)
        return [field.with_metadata({"PARQUET:field_id": str(n)}) for field, n in pairs]

    for name, numbers in (("a", (1, 2)), ("b", (2, 1))):
        fields = number(
            pa.schema([("id", pa.int64()), ("st", pa.struct([("x", pa.int64())]))]), numbers
        )
        inner = pa.struct(number(fields[1].type, [numbers[0] + 5]))
        fields[1] = fields[1].with_type(inner)
        rows = pa.table([[1], pa.array([{"x": 1}], inner)], schema=pa.schema(fields))
        pq.write_table(rows, tmp_path / f"{name}.parquet", store_schema=False)
        written = (tmp_path / f"{name}.parquet").read_bytes()
        own = pq.read_metadata(tmp_path / f"{name}.parquet").created_by.encode()
        other = f"parquet-cpp-arrow version {writer}".encode().ljust(len(own))
        (tmp_path / f"{name}.parquet").write_bytes(written.replace(own, other))
    if is_read:
        assert read_ids(tmp_path) == [1, 1]
    else:
        with pytest.raises(ValueError, match="column id has the field id 2, expected 1"):
            read_ids(tmp_path)


@pytest.mark.parametrize(
    ("log", "kind"),
    [
        ("_delta_log/00000000000000000000.json", "Delta Lake"),
        ("metadata/v1.metadata.json", "Iceberg"),
        ("metadata/00012-6b38352d-1911-4d6a.gz.metadata.json", "Iceberg"),
        (".hoodie/hoodie.properties", "Hudi"),
    ],
)
def test_a_folder_that_contains_a_table_with_versions_is_refused(tmp_path, log, kind):
    folder = tmp_path / "lake" / "rows"
    (folder / log).parent.mkdir(parents=True)
    (folder / log).write_text("{}")
    pq.write_table(TABLE, folder / "rows.parquet")
    with pytest.raises(ValueError, match=f"{folder} is a table of {kind}"):
        read_ids(tmp_path / "lake")
    if kind != "Delta Lake":
        with pytest.raises(ValueError, match=f"{folder} is a table of {kind}.*Pass a list"):
            read_ids(folder)


def test_a_folder_of_that_name_with_other_files_is_read(tmp_path):
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata" / "rows.metadata.json").write_text("{}")
    pq.write_table(TABLE, tmp_path / "rows.parquet")
    assert read_ids(tmp_path) == [*range(100)]


def test_without_deltalake_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "deltalake", None)
    with pytest.raises(ImportError, match=r"pip install 'estimator-train\[delta\]'"):
        lake_tables.list_delta_files(str(tmp_path))


@pytest.mark.parametrize("pattern", ["lake", "lake/main/rows", "lake/*/*/*.parquet"])
def test_files_of_ducklake_are_read_from_a_list_only(tmp_path, pattern):
    """Files that were merged stay beside the file with their rows."""
    folder = tmp_path / "lake" / "main" / "rows"
    folder.mkdir(parents=True)
    name = "ducklake-01a22c31-54e9-7f4d-8abb-011a20ab1a35"
    pq.write_table(pa.table({"id": [1]}), folder / f"{name}.parquet")
    pq.write_table(pa.table({"id": [1, 2]}), folder / f"{name[:-1]}6.parquet")
    with pytest.raises(ValueError, match="has files of DuckLake, also of earlier versions"):
        input_fns.parquet(tmp_path / pattern)
    (found,) = input_fns.parquet([folder / f"{name[:-1]}6.parquet"], num_epochs=1)
    assert found["id"].numpy().tolist() == [1, 2]
