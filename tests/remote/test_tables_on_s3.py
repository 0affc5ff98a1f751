"""Tables on a real S3 server."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import tensorflow as tf

import input_fns

pytestmark = pytest.mark.long
ROWS = 3000


@pytest.fixture
def folder(store, bucket, tmp_path):
    """A table of two partitions, each with several row groups."""
    for day in (1, 2):
        ids = np.arange(day - 1, ROWS, 2)
        path = tmp_path / "rows.parquet"
        pd.DataFrame({"id": ids, "x": ids / 7}).to_parquet(path, row_group_size=400)
        store.client.upload_file(str(path), bucket, f"table/day={day}/rows.parquet")
    return f"s3://{bucket}/table"


def read(pattern, **settings):
    batches = input_fns.parquet(pattern, batch_size=100, num_epochs=1, **settings)
    parts = [*batches.as_numpy_iterator()]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@pytest.mark.parametrize("pattern", ["", "/*/*.parquet"])
def test_rows_of_a_folder_or_pattern(folder, pattern):
    found = read(folder + pattern)
    order = np.argsort(found["id"])
    assert found["id"][order].tolist() == [*range(ROWS)]
    np.testing.assert_array_equal(found["x"], found["id"] / 7)
    np.testing.assert_array_equal(found["day"], found["id"] % 2 + 1)


def test_workers_and_filters(folder):
    contexts = [tf.distribute.InputContext(5, worker) for worker in range(5)]
    parts = [read(folder, select=["id"], shuffle=True, input_context=c)["id"] for c in contexts]
    assert sorted(np.concatenate(parts)) == [*range(ROWS)]
    found = read(f"{folder}/day=1/rows.parquet", row_filter=pc.field("id") >= 2500)
    assert found["id"].tolist() == [*range(2400, ROWS, 2)]


def test_other_readers(store, bucket):
    table = pa.table({"id": range(ROWS)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=500)
    store.client.put_object(Bucket=bucket, Key="rows.arrow", Body=sink.getvalue().to_pybytes())
    batches = input_fns.arrow(f"s3://{bucket}/rows.arrow", num_epochs=1, batch_size=ROWS)
    assert next(iter(batches))["id"].numpy().tolist() == [*range(ROWS)]


def test_the_current_version_of_a_delta_table(store, bucket):
    import deltalake

    folder = f"s3://{bucket}/versions"
    options = {"AWS_ENDPOINT_URL": f"http://{store.endpoint}", "AWS_ALLOW_HTTP": "true"}
    table = pa.table({"id": range(10), "day": ["a b", "c/d"] * 5})
    deltalake.write_deltalake(folder, table, partition_by=["day"], storage_options=options)
    deltalake.DeltaTable(folder, storage_options=options).delete("id < 3")
    found = read(folder)
    assert sorted(zip(found["id"].tolist(), found["day"].tolist(), strict=True)) == [
        (id_, [b"a b", b"c/d"][id_ % 2]) for id_ in range(3, 10)
    ]
    with pytest.raises(ValueError, match=f"Use the path of its folder: {bucket}/versions"):
        read(f"{folder}/*/*.parquet")


def test_a_file_that_does_not_exist(bucket, store):
    with pytest.raises(FileNotFoundError, match="No file matches file_pattern 's3://"):
        input_fns.parquet(f"s3://{bucket}/nothing/*.parquet")
