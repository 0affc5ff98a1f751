"""Parquet files: columns, filters, order, shards, folders.

These tests cover `columns/parquet_files.py`, `columns/partitions.py`, `columns/pipeline.py` and
`columns/table_files.py`.
"""

import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import tensorflow as tf
import tiers

from input_fns import parquet
from tests.input_fns.columns.arrow_tables import ROWS, ids, list_rows, list_values, make_table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two files with row groups of 130 rows."""
    folder = tmp_path_factory.mktemp("parquet")
    table = make_table()
    pq.write_table(table[:600], folder / "a.parquet", row_group_size=130)
    pq.write_table(table[600:], folder / "b.parquet", row_group_size=130)
    return folder


def shard(index, count):
    return tf.distribute.InputContext(count, index)


def test_the_rows_of_every_type_are_those_of_pyarrow(elements, folder):
    found = list_rows(elements(lambda: parquet(folder, batch_size=64, num_epochs=1)))
    table = pq.read_table(folder).flatten()
    assert sorted(found) == sorted(table.column_names)
    for name, column in zip(table.column_names, table.columns, strict=True):
        assert found[name] == list_values(column), name


def test_shuffled_rows_stay_together(elements, folder):
    def dataset():
        return parquet(folder, batch_size=64, num_epochs=1, shuffle=True, seed=3)

    found = list_rows(elements(dataset))
    order = found["id"]
    assert sorted(order) == [*range(ROWS)]
    assert order != sorted(order)
    table = pq.read_table(folder).flatten()
    for name, column in zip(table.column_names, table.columns, strict=True):
        values = list_values(column)
        assert found[name] == [values[row] for row in order], name


def test_a_small_table_is_read_once(tmp_path):
    path = tmp_path / "small.parquet"
    pq.write_table(pa.table({"id": range(100)}), path, row_group_size=30)
    batches = parquet(path, batch_size=1000, shuffle=True).as_numpy_iterator()
    first = next(batches)["id"]
    path.unlink()  # 200 more batches are further than it reads ahead.
    assert first.sum() == sum(next(batches)["id"].sum() for _ in range(200)) / 200


def test_dtypes_and_shapes(folder):
    features, label = parquet(folder, "bool", batch_size=10, drop_remainder=True).element_spec
    assert label == tf.TensorSpec([10], tf.bool)
    assert features["matrix"] == tf.TensorSpec([10, 3], tf.float32)
    assert features["date"] == tf.TensorSpec([10], tf.int32)
    assert features["struct.b"] == tf.TensorSpec([10], tf.string)
    assert isinstance(features["nested"], tf.RaggedTensorSpec)
    assert parquet(folder, select=["half"]).element_spec == {
        "half": tf.TensorSpec([None], tf.float16)
    }


def test_only_the_last_batch_is_smaller(elements, folder):
    for drop in (False, True):
        batches = elements(
            lambda drop=drop: parquet(
                folder, select=["id"], batch_size=48, num_epochs=2, drop_remainder=drop
            )
        )
        sizes = [len(batch["id"]) for batch in batches]
        assert sizes[:41] == [48] * 41
        assert sizes[41:] == ([] if drop else [2 * ROWS - 41 * 48])
        assert ids(batches) == [*range(ROWS), *range(ROWS)][: sum(sizes)]


def test_the_cardinality_is_known(folder):
    assert parquet(folder, batch_size=48, num_epochs=2).cardinality() == 42
    assert parquet(folder).cardinality() == tf.data.INFINITE_CARDINALITY


def test_each_epoch_has_all_rows_in_a_new_order(elements, folder):
    def dataset(seed=5):
        return parquet(
            folder, select=["id"], batch_size=30, num_epochs=3, shuffle=True, seed=seed,
            buffer_size=200,
        )  # fmt: skip

    order = ids(elements(dataset))
    epochs = [order[start : start + ROWS] for start in range(0, 3 * ROWS, ROWS)]
    assert [sorted(epoch) for epoch in epochs] == [[*range(ROWS)]] * 3
    assert epochs[0] != epochs[1] != epochs[2]
    assert order == ids(elements(dataset))
    assert order != ids(elements(lambda: dataset(6)))


def test_a_window_limits_how_far_rows_move(elements, tmp_path):
    pq.write_table(pa.table({"id": range(ROWS)}), tmp_path / "one.parquet")
    for window in (7, 100):
        order = ids(
            elements(
                lambda window=window: parquet(
                    tmp_path, batch_size=20, num_epochs=1, shuffle=True, seed=1, buffer_size=window
                )
            )
        )
        moves = np.abs(np.array(order) - np.arange(ROWS))
        assert 0 < moves.max() < window


@pytest.mark.parametrize("workers", tiers.first({2}, [1, 2, 5]))
@pytest.mark.parametrize("shuffle", [False, True])
def test_workers_divide_the_rows_equally(elements, folder, workers, shuffle):
    parts = [
        ids(
            elements(
                lambda index=index: parquet(
                    folder,
                    select=["id"],
                    batch_size=7,
                    num_epochs=1,
                    shuffle=shuffle,
                    input_context=shard(index, workers),
                )
            )
        )
        for index in range(workers)
    ]
    assert sorted(row for part in parts for row in part) == [*range(ROWS)]
    assert {len(part) for part in parts} == {ROWS // workers}


@pytest.mark.parametrize("before", tiers.first({13}, [1, 13, 40, 70]))
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_position_continues_exactly(folder, tmp_path, restored_elements, before, shuffle):
    def dataset():
        return parquet(
            folder, select=["id", "string", "list"], batch_size=31, shuffle=shuffle, buffer_size=90
        )

    expected, actual = restored_elements(dataset, tmp_path / "position", before, after=45)
    assert list_rows(actual) == list_rows(expected)


def test_the_position_is_small(folder, tmp_path, restored_elements):
    def dataset():
        return parquet(folder, select=["double"], batch_size=1, prefetch_buffer_size=1)

    restored_elements(dataset, tmp_path / "position", before=5, after=1)
    size = sum(path.stat().st_size for path in tmp_path.glob("position*"))
    assert size < 8 * ROWS


def test_missing_values(elements, tmp_path):
    pq.write_table(
        pa.table(
            {
                "a": pa.array([1, None, 3]),
                "b": pa.array(["x", None, None]),
                "c": pa.array([[1, None], None, [3]]),
                "e": pa.array([math.nan, 1.0, 2.0]),
                "f": pa.array(["u", None, "v"]).dictionary_encode(),
            }
        ),
        tmp_path / "a.parquet",
    )
    defaults = {"a": -1, "b": "?", "c": 7, "f": "none"}
    [batch] = elements(lambda: parquet(tmp_path, defaults=defaults, num_epochs=1))
    found = list_rows([batch])
    assert found["a"] == [1, -1, 3]
    assert found["b"] == [b"x", b"?", b"?"]
    assert found["c"] == [[1, 7], [], [3]]
    assert found["f"] == [b"u", b"none", b"v"]
    assert math.isnan(found["e"][0])


def test_vocabularies_types_ids_and_padding(elements, tmp_path):
    words = pa.array(["b", "a", "c"])
    pq.write_table(
        pa.table(
            {
                "word": words,
                "category": words.dictionary_encode(),
                "number": pa.array([1.0, 2.0, 3.0]),
                "list": pa.array([[1], [], [2, 3]]),
            }
        ),
        tmp_path / "a.parquet",
    )
    [batch] = elements(
        lambda: parquet(
            tmp_path,
            types={"number": tf.int32},
            vocabularies={"word": ["a", "b"]},
            ids=["category"],
            padding={"list": -1},
            num_epochs=1,
        )
    )
    assert list_rows([batch]) == {
        "word": [1, 0, 2],
        "category": [0, 1, 2],
        "number": [1, 2, 3],
        "list": [[1, -1], [-1, -1], [2, 3]],
    }
    assert batch["number"].dtype == np.int32


def test_row_groups_are_filtered_by_their_statistics(elements, folder):
    found = ids(elements(lambda: parquet(folder, row_filter=pc.field("id") >= 700, num_epochs=1)))
    assert found == [*range(600, ROWS)]  # The group from 600 to 729 has such a row.


def test_labels_are_a_column_or_a_dict(elements, folder):
    batch = elements(lambda: parquet(folder, "id", select=["bool"], batch_size=3), 1)[0]
    assert batch[1].tolist() == [0, 1, 2]
    assert list(batch[0]) == ["bool"]
    batch = elements(lambda: parquet(folder, ["id", "bool"], select=["int8"], batch_size=2), 1)[0]
    assert {name: value.tolist() for name, value in batch[1].items()} == {
        "id": [0, 1],
        "bool": [True, False],
    }


def test_cached_rows_are_read_after_the_file_is_gone(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": range(50)}), path, row_group_size=20)
    batches = parquet(
        path, batch_size=50, cache="memory", shuffle=True, buffer_size=50, prefetch_buffer_size=0
    )
    iterator = iter(batches)
    next(iterator), next(iterator)
    path.unlink()
    for _ in range(5):
        assert sorted(next(iterator)["id"].numpy()) == [*range(50)]


def test_a_folder_means_its_data_files(elements, tmp_path):
    (tmp_path / "part").mkdir()
    table = pa.table({"id": range(3)})
    pq.write_table(table, tmp_path / "part" / "a.parquet")
    pq.write_table(table, tmp_path / "_old.parquet")
    (tmp_path / "_SUCCESS").touch()
    pq.write_table(table[:0], tmp_path / "part" / "empty.parquet")
    assert ids(elements(lambda: parquet(tmp_path, num_epochs=1))) == [0, 1, 2]


def write_partitions(folder):
    """Writes a table of Hive's form with pyarrow."""
    table = pa.table({"id": range(60), "day": [*range(19, 22)] * 20, "shop": ["a b", "ü"] * 30})
    import pyarrow.dataset as ds

    partitioning = ds.partitioning(table.select(["day", "shop"]).schema, flavor="hive")
    ds.write_dataset(table, folder, format="parquet", partitioning=partitioning)
    return table


@pytest.mark.parametrize("scheme", ["", "file://"])
@pytest.mark.parametrize("below", ["", "/day=*/*/*.parquet", "/day=*", "/day=*/*"])
def test_names_of_folders_are_columns(elements, tmp_path, scheme, below):
    table = write_partitions(tmp_path / "table")
    (tmp_path / "table" / "_SUCCESS").touch()
    batches = elements(lambda: parquet(f"{scheme}{tmp_path}/table{below}", "day", num_epochs=1))
    rows = {}
    for features, days in batches:
        for row in zip(features["id"].tolist(), days.tolist(), features["shop"], strict=True):
            rows[row[0]] = (row[1], row[2].decode())
    expected = table.to_pydict()
    assert rows == {
        row: (day, shop)
        for row, day, shop in zip(*(expected[n] for n in ("id", "day", "shop")), strict=True)
    }
    only = list_rows(elements(lambda: parquet(f"{tmp_path}/table", select=["day"], num_epochs=1)))
    assert sorted(only["day"]) == sorted(expected["day"])


@pytest.mark.parametrize(
    ("row_filter", "expected"),
    [
        (pc.field("day") == 20, [*range(1, 60, 3)]),
        ((pc.field("day") > 20) & (pc.field("shop") == "ü"), [*range(5, 60, 6)]),
        ((pc.field("day") == 20) & (pc.field("id") > 100), None),
        (pc.field("shop").is_null(), None),
    ],
)
def test_folders_are_filtered_by_their_names(elements, tmp_path, row_filter, expected):
    write_partitions(tmp_path)

    def dataset():
        return parquet(tmp_path, row_filter=row_filter, num_epochs=1)

    if expected:
        assert sorted(ids(elements(dataset))) == expected
    else:
        with pytest.raises(ValueError, match="has no rows, and neither do the 5 other files"):
            dataset()


def test_a_column_of_the_file_is_filtered_in_place_of_its_folder(elements, tmp_path):
    (tmp_path / "day=1").mkdir()
    pq.write_table(pa.table({"id": [7], "day": [2]}), tmp_path / "day=1" / "a.parquet")

    def dataset():
        return parquet(tmp_path, row_filter=pc.field("day") == 2, num_epochs=1)

    assert ids(elements(dataset)) == [7]


def test_folders_of_listed_files_are_no_columns(tmp_path):
    write_partitions(tmp_path)
    files = sorted(tmp_path.glob("*/*/*.parquet"))
    assert parquet(files).element_spec.keys() == {"id"}


def test_a_missing_value_in_the_name_of_a_folder(elements, tmp_path):
    for value in ("1", "__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / f"day={value}").mkdir()
        pq.write_table(pa.table({"id": [0]}), tmp_path / f"day={value}" / "a.parquet")
    found = list_rows(elements(lambda: parquet(tmp_path, defaults={"day": -1}, num_epochs=1)))
    assert sorted(found["day"]) == [-1, 1]
    missing = {"row_filter": pc.field("day").is_null(), "defaults": {"day": -1}}
    assert list_rows(elements(lambda: parquet(tmp_path, num_epochs=1, **missing)))["day"] == [-1]
    pq.write_table(pa.table({"id": [0]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"day=1/a\.parquet have the columns \['day'\], expected"):
        parquet([tmp_path / "b.parquet", tmp_path])


NAN = float("nan")


@pytest.mark.parametrize(
    ("row_filter", "expected"),
    [
        (~(pc.field("x") < 3), [0, 1, 2, 3, 4, 5]),
        (pc.field("x") != 1, [0, 1, 2, 3, 4, 5]),
        (pc.field("x").is_nan(), [0, 1, 2, 3, 4, 5]),
        (pc.field("x") < 3, [0, 1, 4, 5]),
        (pc.field("x") > 3, [2, 3]),
        (pc.field("x").is_nan() & (pc.field("id") > 3), [4, 5]),
        (pc.field("x").is_nan() & pc.field("s", "y").is_nan(), [0, 1, 2, 3, 4, 5]),
        (pc.field("x").is_nan() & (pc.field("s", "y") > 8), [4, 5]),
    ],
)
def test_a_filter_keeps_the_row_groups_that_may_have_nan(elements, tmp_path, row_filter, expected):
    columns = {"id": range(6), "x": [1.0, NAN, 5.0, 6.0, NAN, 2.0]}
    columns["s"] = [{"y": value} for value in (1.0, 2.0, 3.0, NAN, 9.0, NAN)]
    pq.write_table(pa.table(columns), tmp_path / "a.parquet", row_group_size=2)
    found = elements(lambda: parquet(tmp_path, row_filter=row_filter, num_epochs=1))
    assert ids(found) == expected


@pytest.mark.parametrize(
    ("row_filter", "error", "text"),
    [
        (pc.field("y") > 1, ValueError, r"row_filter: .*a\.parquet: No match for FieldRef"),
        (pc.field("id") > "a", ValueError, r"row_filter: .*a\.parquet: Function 'greater' has no"),
        ("id > 1", TypeError, r"row_filter must be an expression .* but got 'id > 1'"),
    ],
)
def test_a_filter_that_cannot_work_is_named(tmp_path, row_filter, error, text):
    pq.write_table(pa.table({"id": [1]}), tmp_path / "a.parquet")
    with pytest.raises(error, match=text):
        parquet(tmp_path, row_filter=row_filter)
