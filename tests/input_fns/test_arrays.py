"""Batches of arrays.

These tests cover `pipeline/conversion.py`.
"""

import gc
import time
import weakref
from collections import namedtuple

import numpy as np
import pytest
import tensorflow as tf

from input_fns import arrays
from input_fns.pipeline.rows import _take_snapshot

ROWS = np.arange(40, dtype=np.float32).reshape(10, 4)
NUMBERS = np.arange(10)


def numbers_of(batches):
    return [labels.tolist() for _, labels in batches]


def test_rows_are_batched_in_order(elements):
    found = elements(lambda: arrays(ROWS, NUMBERS, batch_size=4, num_epochs=1))
    assert numbers_of(found) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    np.testing.assert_array_equal(np.concatenate([rows for rows, _ in found]), ROWS)
    assert found[0][0].dtype == np.float32
    assert found[0][1].dtype == np.int64


def test_a_batch_may_contain_rows_of_two_epochs(elements):
    found = elements(lambda: arrays(ROWS, NUMBERS, batch_size=4, num_epochs=2))
    assert numbers_of(found)[2] == [8, 9, 0, 1]
    assert [len(batch) for batch in numbers_of(found)] == [4] * 5
    found = elements(lambda: arrays(ROWS[:3], NUMBERS[:3], batch_size=7, num_epochs=3))
    assert numbers_of(found) == [[0, 1, 2, 0, 1, 2, 0], [1, 2]]


def test_a_small_last_batch_is_dropped_on_request(elements):
    def make():
        return arrays(ROWS, NUMBERS, batch_size=4, num_epochs=1, drop_remainder=True)

    assert numbers_of(elements(make)) == [[0, 1, 2, 3], [4, 5, 6, 7]]


@pytest.mark.parametrize("settings", [{}, {"shuffle": True}, {"shuffle": True, "buffer_size": 2}])
def test_batch_size_is_static_only_if_no_batch_can_be_smaller(settings):
    for batch_size in (4, 5, 10):
        dataset = arrays(ROWS, batch_size=batch_size, **settings)
        assert dataset.element_spec.shape.as_list() == [None, 4]
        dataset = arrays(ROWS, batch_size=batch_size, drop_remainder=True, **settings)
        assert dataset.element_spec.shape.as_list() == [batch_size, 4]


def test_num_epochs_none_repeats_indefinitely(elements):
    found = elements(lambda: arrays(ROWS, NUMBERS, batch_size=10), limit=25)
    assert numbers_of(found) == [list(range(10))] * 25


@pytest.mark.parametrize(
    ("settings", "batches"),
    [
        ({"num_epochs": None}, tf.data.INFINITE_CARDINALITY),
        ({"num_epochs": 1}, 3),
        ({"num_epochs": 3}, 8),
        ({"num_epochs": 3, "drop_remainder": True}, 7),
        ({"num_epochs": 2, "shuffle": True, "buffer_size": 2}, 5),
    ],
)
def test_the_number_of_batches_is_known(settings, batches):
    dataset = arrays(ROWS, NUMBERS, batch_size=4, **settings)
    assert dataset.cardinality().numpy() == batches
    if batches > 0:
        assert sum(1 for _ in dataset) == batches


def test_structures_are_preserved(elements):
    Point = namedtuple("Point", "x y")
    features = {"a": ROWS, "b": (NUMBERS, {"c": NUMBERS * 2}), "d": Point(NUMBERS, [0.5] * 10)}
    found = elements(lambda: arrays(features, (NUMBERS, ROWS), batch_size=6, num_epochs=1))
    (first, labels), _ = found
    assert set(first) == {"a", "b", "d"}
    np.testing.assert_array_equal(first["a"], ROWS[:6])
    assert first["b"][1]["c"].tolist() == [0, 2, 4, 6, 8, 10]
    assert first["d"].y.tolist() == [0.5] * 6
    np.testing.assert_array_equal(labels[1], ROWS[:6])


def test_without_labels_only_features_are_returned(elements):
    (first, second) = elements(lambda: arrays({"x": ROWS}, batch_size=5, num_epochs=1))
    np.testing.assert_array_equal(np.concatenate([first["x"], second["x"]]), ROWS)


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int16", "uint32", "int64", "float16", "float64", ">f4", ">i2"]
)
def test_dtypes_and_values_are_kept(elements, dtype):
    values = np.array([0, 1, 7, 100]).astype(dtype)
    (found,) = elements(lambda: arrays(values, batch_size=4, num_epochs=1))
    assert found.dtype == values.dtype.newbyteorder("=")
    assert found.tolist() == values.tolist()


@pytest.mark.parametrize(
    "words",
    [
        ["plain", "Grüße", ""],
        np.array([b"raw", b"\xff\x00\x01", b"x"], dtype=object),
        np.array(["text", b"bytes", "日本"], dtype=object),
        np.array([b"fixed", b"b", b"c"]),
    ],
    ids=["list", "bytes", "mixed", "S"],
)
def test_strings_are_kept(elements, words):
    (found,) = elements(lambda: arrays(words, batch_size=3, num_epochs=1))
    assert found.tolist() == [w.encode() if isinstance(w, str) else bytes(w) for w in words]


def test_zeros_at_the_end_of_strings_are_kept(elements):
    words = [b"a\0", b"b"]
    features = (
        words,
        [word.decode() for word in words],
        np.array(["a\0", "b"], np.dtypes.StringDType()),
        np.array(words, object),
    )
    (found,) = elements(lambda: arrays(features, batch_size=2, num_epochs=1))
    assert [part.tolist() for part in found] == [words] * 4


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ([2**63 + 5, 1], "integer 9223372036854775813 would become the float 9.22.*np.uint64"),
        ([[0.5, 1], [2**53 + 1, 2]], "integer 9007199254740993 would become the float"),
        ([np.array([0.5]), np.array([2**60 + 1])], "integer 1152921504606846977 would become"),
        (np.ma.array([1, 2, 3], mask=[0, 1, 0]), "1 masked values: fill them with its filled"),
        (["a", 2], r"contains the object 2 \(int\)"),
    ],
)
def test_values_that_numpy_would_change_are_refused(values, error):
    with pytest.raises((TypeError, ValueError), match=error):
        arrays({"x": values})


def test_integers_of_other_packages_that_numpy_would_change_are_refused():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    numbers = [2**53 + 1, None]
    for column in (
        pd.Series(numbers, dtype="Int64"),
        pl.Series(numbers),
        pa.array(numbers),
        pa.chunked_array([numbers]),
        pl.DataFrame({"x": numbers}),
    ):
        with pytest.raises(ValueError, match="have 1 missing values: fill them, or use input_fns."):
            arrays({"x": column})
    columns = {"y": [0.5, 1.5], "x": [2**53 + 1, 2]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        with pytest.raises(ValueError, match="integer 9007199254740993 would become the float"):
            arrays(frame)


def test_integers_that_are_exact_floats_become_floats(elements):
    import pandas as pd

    frame = pd.DataFrame({"y": [0.5, 1.5], "columns": [2**60, 2]})
    values = ([2**53, 0.5], [[True, 1.5], [np.int8(3), 2**60]], frame, frame["columns"])
    (found,) = elements(lambda: arrays(values, batch_size=2, num_epochs=1))
    assert found[0].tolist() == [2**53, 0.5]
    assert found[1].tolist() == [[1, 1.5], [3, 2**60]]
    assert found[2].tolist() == [[0.5, 2**60], [1.5, 2]]
    assert found[3].tolist() == [2**60, 2]


def test_slices_and_other_memory_layouts_are_read_correctly(elements):
    odd = np.asfortranarray(ROWS)[::-2, 1:3]
    (found,) = elements(lambda: arrays(odd, batch_size=9, num_epochs=1))
    np.testing.assert_array_equal(found, odd)


SHUFFLES = [{"shuffle": True}, {"shuffle": True, "buffer_size": 4}]


@pytest.mark.parametrize("settings", SHUFFLES, ids=str)
def test_each_epoch_has_every_row_once_in_a_new_order(elements, settings):
    found = elements(lambda: arrays(ROWS, NUMBERS, batch_size=5, num_epochs=3, seed=1, **settings))
    epochs = np.concatenate(numbers_of(found)).reshape(3, 10)
    assert np.sort(epochs).tolist() == [list(range(10))] * 3
    assert len({tuple(epoch) for epoch in epochs.tolist()}) == 3
    for rows, numbers in found:
        np.testing.assert_array_equal(rows, ROWS[numbers])


@pytest.mark.parametrize("settings", SHUFFLES, ids=str)
def test_a_seed_fixes_the_order(elements, settings):
    def order(seed):
        return elements(lambda: arrays(NUMBERS, batch_size=10, num_epochs=2, seed=seed, **settings))

    np.testing.assert_array_equal(order(5), order(5))
    assert np.any(np.not_equal(order(5), order(6)))


@pytest.mark.parametrize("settings", SHUFFLES, ids=str)
def test_the_seed_of_the_graph_fixes_the_order(settings):
    def order(seed):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            tf.compat.v1.set_random_seed(seed)
            iterator = tf.compat.v1.data.make_initializable_iterator(
                arrays(NUMBERS, batch_size=10, **settings)
            )
            element = iterator.get_next()
            session.run(iterator.initializer)
            return session.run(element).tolist()

    assert order(5) == order(5) != order(6)


@pytest.mark.parametrize("settings", SHUFFLES, ids=str)
def test_each_iteration_has_a_new_order(settings):
    dataset = arrays(NUMBERS, batch_size=10, num_epochs=1, seed=5, **settings)
    (first,), (second,) = (list(dataset.as_numpy_iterator()) for _ in range(2))
    assert sorted(first) == sorted(second)
    assert first.tolist() != second.tolist()


@pytest.mark.parametrize("buffer_size", [1, 2, 30, 999])
def test_a_buffer_bounds_how_far_rows_move(buffer_size):
    dataset = arrays(np.arange(1000), None, 1000, True, 1, seed=1, buffer_size=buffer_size)
    (order,) = dataset.as_numpy_iterator()
    distance = np.abs(order - np.arange(1000))
    assert sorted(order) == list(range(1000))
    assert distance.max() < buffer_size
    assert distance.mean() >= (buffer_size - 1) * 0.15


def test_a_full_shuffle_moves_rows_anywhere():
    dataset = arrays(np.arange(1000), batch_size=1000, shuffle=True, num_epochs=1, seed=1)
    (order,) = dataset.as_numpy_iterator()
    distance = np.abs(order - np.arange(1000)).mean()
    assert 300 < distance < 370  # a third of the length, as for a uniform permutation


def test_arrays_of_any_size_stay_out_of_the_graph():
    large = np.zeros([3, 2**30], np.uint8)  # untouched, so it takes no memory
    with tf.Graph().as_default() as graph:
        iterator = tf.compat.v1.data.make_initializable_iterator(
            arrays({"x": large}, np.zeros(3), batch_size=1, shuffle=True)
        )
        assert iterator.get_next()[0]["x"].shape[1:] == [2**30]
        assert graph.as_graph_def().ByteSize() < 50_000


def allocate_rows(offset):
    """Returns 2,000 rows at an address that is a multiple of 64, plus an offset."""
    buffer = np.empty(8 * 2_000 + 128, np.uint8)
    start = -buffer.ctypes.data % 64 + offset
    rows = buffer[start : start + 8 * 2_000].view(np.float64)
    rows[:] = np.arange(2_000)
    return rows


def test_rows_that_change_after_the_first_batch_are_read_as_they_were():
    columns = {f"at {offset}": allocate_rows(offset) for offset in (0, 8, 32)}
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        iterator = tf.compat.v1.data.make_initializable_iterator(
            arrays(columns, batch_size=500, num_epochs=1)
        )
        element = iterator.get_next()
        session.run(iterator.initializer)
        found = [session.run(element)]
        for values in columns.values():
            values[:] = -1.0
        found += [session.run(element) for _ in range(3)]
    for name in columns:
        np.testing.assert_array_equal(
            np.concatenate([batch[name] for batch in found]), np.arange(2_000)
        )


def test_read_only_memory_is_not_copied(tmp_path):
    np.save(tmp_path / "rows.npy", np.arange(1_000.0))
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    frozen_view = allocate_rows(0)[:]
    frozen_view.flags.writeable = False
    words = np.array([b"a", b"b"], object)
    for array, is_shared in (
        (mapped, True),
        (np.frombuffer(bytes(80)), True),
        (words, True),
        (np.load(tmp_path / "rows.npy", mmap_mode="r+"), False),
        (np.frombuffer(memoryview(bytearray(80)).toreadonly()), False),
        (frozen_view, False),
    ):
        snapshot = _take_snapshot(array)
        np.testing.assert_array_equal(snapshot, array)
        assert (snapshot is array) == is_shared
        assert is_shared or snapshot.ctypes.data % 64 == 0  # TensorFlow copies other arrays.


def test_arrays_are_freed_with_the_dataset():
    values = np.ones([100, 4], np.float32)
    alive = weakref.ref(values)
    batches = list(arrays(values, batch_size=50, num_epochs=1))
    assert len(batches) == 2
    del values
    end = time.monotonic() + 60
    while alive() is not None and time.monotonic() < end:
        gc.collect()  # Threads of tf.data may still be ending.
    assert alive() is None


@pytest.mark.parametrize("settings", [{}, *SHUFFLES], ids=str)
def test_the_position_can_be_saved_and_restored(tmp_path, restored_elements, settings):
    wanted, found = restored_elements(
        lambda: arrays(NUMBERS, batch_size=4, seed=5, **settings), tmp_path / "at", 4, 6
    )
    np.testing.assert_array_equal(found, wanted)


def test_batches_can_be_prefetched_to_a_device(elements):
    found = elements(
        lambda: arrays(ROWS, batch_size=4, num_epochs=1, prefetch_device="/cpu:0", seed=1)
    )
    np.testing.assert_array_equal(np.concatenate(found), ROWS)


def test_keras_trains_on_the_dataset():
    import tf_keras

    model = tf_keras.Sequential([tf_keras.layers.Dense(1)])
    model.compile("sgd", "mse", run_eagerly=False)
    targets = NUMBERS.astype(np.float32)
    history = model.fit(arrays(ROWS / 40, targets, 5, shuffle=True, num_epochs=1), verbose=0)
    assert np.isfinite(history.history["loss"][0])
    with pytest.raises(ValueError, match="infinite"):  # rather than train for ever
        model.fit(arrays(ROWS, targets), verbose=0)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"features": []}, ValueError, r"features must have at least one row.*\(0,\)"),
        ({"features": {}}, ValueError, "features must contain at least one array"),
        ({"features": 3.0}, ValueError, r"features must have at least one row.*\(\)"),
        ({"features": [[1], [1, 2]]}, ValueError, "features must be a regular array"),
        ({"features": {"a": [None]}}, TypeError, r"features\['a'\] must be.*None \(NoneType\)"),
        ({"features": np.zeros(3, "M8[s]")}, TypeError, "features must be.*M8"),
        (
            {"features": {"a": ROWS, "b": (NUMBERS, NUMBERS[:7])}},
            ValueError,
            r"but features\['a'\] has 10, features\['b'\]\[0\] has 10, "
            r"features\['b'\]\[1\] has 7",
        ),
        ({"labels": NUMBERS[:9]}, ValueError, "features has 10, labels has 9"),
        ({"batch_size": 0}, ValueError, "batch_size must be 1 or more, but got 0"),
        ({"batch_size": -4}, ValueError, "batch_size must be 1 or more, but got -4"),
        ({"batch_size": 2.5}, TypeError, r"batch_size must be an integer, but got 2.5 \(float\)"),
        ({"batch_size": True}, TypeError, "batch_size must be an integer, but got True"),
        ({"num_epochs": 0}, ValueError, "num_epochs must be 1 or more, but got 0"),
        ({"buffer_size": 0}, ValueError, "buffer_size must be 1 or more, but got 0"),
        ({"prefetch_buffer_size": -2}, ValueError, "prefetch_buffer_size must be -1 or more"),
        ({"prefetch_device": 0}, TypeError, "prefetch_device must be a name .* but got 0"),
        ({"seed": "x"}, TypeError, "seed must be an integer, but got 'x'"),
        (
            {"batch_size": 11, "num_epochs": 1, "drop_remainder": True},
            ValueError,
            "batch_size=11 with drop_remainder=True leaves no batch of 10 rows",
        ),
    ],
)
def test_bad_arguments_are_named_with_their_value(arguments, error, text):
    with pytest.raises(error, match=text):
        arrays(**{"features": ROWS, **arguments})


def test_numpy_integers_are_integers():
    dataset = arrays(ROWS, NUMBERS, batch_size=np.int32(4), num_epochs=np.int64(1))
    assert sum(1 for _ in dataset) == 3
