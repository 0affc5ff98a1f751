"""Positions in an input whose files or settings have changed after they were saved."""

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from input_fns import csv, parquet, tfrecords

FEATURES = {"x": tf.io.FixedLenFeature([], tf.int64)}
SOURCES = {
    "parquet": parquet,
    "csv": csv,
    "records": lambda files, **settings: tfrecords(files, FEATURES, **settings),
}


def write(folder, source, *starts, rows=10):
    """Writes files with the rows from each start."""
    for start in starts:
        path, numbers = folder / f"{start:06d}.{source}", np.arange(start, start + rows)
        if source == "parquet":
            pd.DataFrame({"x": numbers}).to_parquet(path)
        elif source == "csv":
            pd.DataFrame({"x": numbers}).to_csv(path, index=False)
        else:
            with tf.io.TFRecordWriter(str(path)) as file:
                for number in numbers:
                    value = tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))
                    features = tf.train.Features(feature={"x": value})
                    file.write(tf.train.Example(features=features).SerializeToString())
    return f"{folder}/*.{source}"


def save_position(make_dataset, folder, batches=2):
    iterator = iter(make_dataset())
    seen = [next(iterator)["x"].numpy().tolist() for _ in range(batches)]
    return seen, tf.train.Checkpoint(input=iterator).save(str(folder / "position"))


def continue_at(make_dataset, path):
    iterator = iter(make_dataset())
    tf.train.Checkpoint(input=iterator).restore(path)
    return iterator


def change_files(folder, source, change):
    files = sorted(folder.glob(f"*.{source}"))
    if change == "a file less":
        files[0].unlink()
    elif change == "a file more":
        write(folder, source, 5)
    else:
        write(folder, source, 0, rows=11)


@pytest.mark.parametrize("change", ["a file less", "a file more", "a row more"])
@pytest.mark.parametrize("source", SOURCES)
def test_a_position_in_other_files_is_an_error(tmp_path, source, change):
    pattern = write(tmp_path, source, *range(10, 100, 10), 0)

    def make():  # Without an end: the pipeline reads 512 rows ahead.
        return SOURCES[source](pattern, batch_size=20, shuffle=change == "a file less", seed=3)

    seen, path = save_position(make, tmp_path)
    iterator = continue_at(make, path)
    rest = [next(iterator)["x"].numpy() for _ in range(3)]
    assert sorted(np.ravel([*seen, *rest])) == [*range(100)]
    change_files(tmp_path, source, change)
    with pytest.raises(tf.errors.InvalidArgumentError, match="blocks in which they are read have"):
        next(continue_at(make, path))


def test_another_batch_size_of_a_table_may_need_other_blocks(tmp_path):
    pattern = write(tmp_path, "parquet", 0, rows=40_000)
    # The second block begins after 32,768 rows with batches of 512, and after 32,700 of 300.
    _, path = save_position(lambda: parquet(pattern, batch_size=512), tmp_path, batches=65)
    with pytest.raises(tf.errors.InvalidArgumentError, match="blocks in which they are read have"):
        next(continue_at(lambda: parquet(pattern, batch_size=300), path))
    read_ahead = continue_at(lambda: parquet(pattern, batch_size=1024), path)
    assert next(read_ahead)["x"].numpy()[0] == 65 * 512
