"""Files that other packages write are read as pyarrow reads them."""

import datetime
import shutil

import datasets
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
import tensorflow as tf

from input_fns import arrow, parquet
from tests.input_fns.columns.arrow_tables import ids, list_rows, list_values

ROWS = 300
DAY = datetime.date(2024, 2, 1)
COLUMNS = {
    "id": [*range(ROWS)],
    "price": [row / 7 for row in range(ROWS)],
    "is_new": [row % 5 == 0 for row in range(ROWS)],
    "shop": [f"shop {row % 9}" for row in range(ROWS)],
    "day": [DAY + datetime.timedelta(days=row) for row in range(ROWS)],
    "basket": [[*range(row % 4)] for row in range(ROWS)],
}


def write_with_pandas(folder):
    frame = pd.DataFrame(COLUMNS).astype({"shop": "category", "id": "Int64"})
    frame.to_parquet(folder / "a.parquet", row_group_size=70)


def write_with_polars(folder):
    frame = pl.DataFrame(COLUMNS).with_columns(pl.col("shop").cast(pl.Categorical))
    frame.write_parquet(folder / "a.parquet", row_group_size=70)


def write_with_duckdb(folder):
    rows = pa.table(COLUMNS)  # noqa: F841
    duckdb.sql(f"COPY (SELECT * FROM rows) TO '{folder}' (FORMAT parquet, PER_THREAD_OUTPUT)")


def write_with_datasets(folder):
    datasets.Dataset.from_dict(COLUMNS).to_parquet(folder / "a.parquet")


def write_with_spark(folder):
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = spark.getOrCreate()
    try:
        rows = [*zip(*COLUMNS.values(), strict=True)]
        frame = session.createDataFrame(rows, list(COLUMNS)).repartition(3)
        frame.write.mode("overwrite").parquet(str(folder))
    finally:
        session.stop()


WRITERS = [write_with_pandas, write_with_polars, write_with_duckdb, write_with_datasets]


NEEDS_JAVA = pytest.mark.skipif(not shutil.which("java"), reason="needs Java, as Debian's package")


@pytest.mark.parametrize(
    "write", [*WRITERS, pytest.param(write_with_spark, marks=[pytest.mark.long, NEEDS_JAVA])]
)
def test_parquet(elements, tmp_path, write):
    write(tmp_path)
    found = list_rows(elements(lambda: parquet(tmp_path, num_epochs=1)))
    files = sorted(path for path in tmp_path.glob("*.parquet"))
    table = pa.concat_tables(pq.ParquetFile(path).read() for path in files)
    assert sorted(found["id"]) == COLUMNS["id"]
    for name in COLUMNS:
        assert found[name] == list_values(table[name]), name


def test_a_saved_dataset_of_hugging_face(elements, tmp_path):
    datasets.Dataset.from_dict(COLUMNS).save_to_disk(tmp_path, num_shards=2)
    found = list_rows(elements(lambda: arrow(tmp_path, num_epochs=1)))
    for name, values in COLUMNS.items():
        assert found[name] == list_values(pa.chunked_array([values])), name


def test_ipc_files_of_polars(elements, tmp_path):
    frame = pl.DataFrame(COLUMNS)
    frame.write_ipc(tmp_path / "a.arrow", compression="zstd")
    frame.write_ipc_stream(tmp_path / "b.arrows")
    found = list_rows(elements(lambda: arrow(tmp_path, num_epochs=1)))
    for name, values in COLUMNS.items():
        assert found[name] == 2 * list_values(pa.chunked_array([values])), name


@pytest.mark.parametrize("type_of_text", [pa.string_view(), pa.binary_view()])
def test_views_are_text(elements, tmp_path, type_of_text):
    """polars writes text to Arrow files as views."""
    words = ["a", "b", "c"] * 20
    views = pa.array([word.encode() for word in words]).cast(type_of_text)
    lists = pa.ListArray.from_arrays(range(0, 61), views)
    pairs = pa.FixedSizeListArray.from_arrays(views, 2)
    table = pa.table({"id": range(60), "word": views, "list": lists, "code": views})
    pq.write_table(table.append_column("category", views), tmp_path / "a.parquet")
    table = table.append_column("category", views.dictionary_encode())
    feather.write_feather(table, tmp_path / "a.arrow")
    feather.write_feather(pa.table({"pair": pairs}), tmp_path / "pairs.arrow")
    for read, name in ((parquet, "a.parquet"), (arrow, "a.arrow")):
        rows = list_rows(
            elements(
                lambda read=read, name=name: read(
                    tmp_path / name, num_epochs=2, shuffle=True, vocabularies={"code": ["b", "a"]}
                )
            )
        )
        expected = [words[row].encode() for row in rows["id"]]
        assert sorted(rows["id"]) == sorted([*range(60)] * 2)
        assert rows["word"] == rows["category"] == expected
        assert [*map(list, rows["list"])] == [[word] for word in expected]
        assert rows["code"] == [[b"b", b"a", b"c"].index(word) for word in expected]
    found = elements(lambda: arrow(tmp_path / "pairs.arrow", shuffle=True, num_epochs=1))
    assert {tuple(row) for batch in found for row in batch["pair"]} == {
        (b"a", b"b"),
        (b"c", b"a"),
        (b"b", b"c"),
    }


def test_names_of_columns_in_folders_are_unquoted(elements, tmp_path):
    """DuckDB quotes them."""
    rows = pa.table({"id": [0, 1, 2], "k é": ["a/b", "50%", None]})
    duckdb.from_arrow(rows).write_parquet(str(tmp_path / "rows"), partition_by=["k é"])
    (found,) = elements(lambda: parquet(tmp_path / "rows", defaults={"k é": "?"}, num_epochs=1))
    assert dict(zip(found["id"], found["k é"], strict=True)) == {0: b"a/b", 1: b"50%", 2: b"?"}


@pytest.mark.parametrize("year", [1, 2263])
@pytest.mark.parametrize("name", ["time", "list", "struct.a"])
def test_times_of_spark_that_nanoseconds_do_not_hold(tmp_path, name, year):
    times = [*[datetime.datetime(1678, 1, 1)] * 50, None, datetime.datetime(year, 1, 2)]
    kind = pa.timestamp("us")
    columns = {
        "id": range(len(times)),
        "time": pa.array(times, kind),
        "list": pa.array([[time] for time in times], pa.list_(kind)),
        "struct": pa.array([{"a": time} for time in times], pa.struct([("a", kind)])),
    }
    path, default = tmp_path / "a.parquet", {name: 0}
    options = {"use_deprecated_int96_timestamps": True, "row_group_size": 51}
    pq.write_table(pa.table(columns), path, **options)
    kept = {"defaults": default, "select": ["id", name], "num_epochs": 1}
    text = f"a.parquet, row group 1: column {name} has the time {year:04}-01-02 00:00:00"
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=f"{text}.*or read the file into memory"
    ):
        list(parquet(path, **kept))
    found = list_rows([*parquet(path, on_bad_record="skip", **kept)])
    assert found["id"] == [*range(51)]
    expected = -9214560000 * 10**9
    assert found[name][0] == ([expected] if name == "list" else expected)
    assert ids([*parquet(path, select=["id"], num_epochs=1)]) == [*range(len(times))]
