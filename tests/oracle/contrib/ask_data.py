"""Questions about tf.contrib.data."""

import os
import sqlite3
import tempfile

import numpy as np
import tensorflow as tf
from asking import main, question, signature

data = tf.contrib.data


def read(dataset, count):
    """Returns the first elements of a dataset, its types and shapes."""
    types, shapes = tf.data.get_output_types(dataset), tf.data.get_output_shapes(dataset)
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    parts = element if isinstance(element, (tuple, dict)) else (element,)
    named = parts if isinstance(parts, dict) else dict(enumerate(parts))
    named = {key: part["y"] if isinstance(part, dict) else part for key, part in named.items()}
    fetches = {str(name): part for name, part in named.items()}
    return [{"types": str(types), "shapes": str(shapes)}] + [fetches] * count


def upto(stop):
    return tf.data.Dataset.range(stop)


def directory():
    return tempfile.mkdtemp()


def file_of(text, name="data.csv"):
    path = os.path.join(directory(), name)
    with open(path, "w") as f:
        f.write(text)
    return path


def examples(count=6):
    path = os.path.join(directory(), "data.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(count):
            x = tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))
            words = [b"w%d" % j for j in range(i % 3)]
            w = tf.train.Feature(bytes_list=tf.train.BytesList(value=words))
            features = tf.train.Features(feature={"x": x, "w": w})
            writer.write(tf.train.Example(features=features).SerializeToString())
    return path


FEATURES = {"x": tf.io.FixedLenFeature([], tf.int64)}


@question
def arguments():
    names = (
        "batch_and_drop_remainder",
        "group_by_window",
        "padded_batch_and_drop_remainder",
        "read_batch_features",
        "reduce_dataset",
        "sliding_window_batch",
        "sloppy_interleave",
    )
    return {name: signature(getattr(data, name)) for name in names}


@question
def autotune():
    return {"value": data.AUTOTUNE}


@question
def map_and_batch():
    return read(upto(5).apply(data.map_and_batch(lambda x: x * x, 2)), 3)


@question
def map_and_batch_drops():
    apply = data.map_and_batch(lambda x: (x, [x, 1]), 2, 3, True)
    return read(upto(5).apply(apply), 2)


@question
def map_and_batch_ends():
    apply = data.map_and_batch(lambda x: x, 2, drop_remainder=True, num_parallel_calls=2)
    return read(upto(5).apply(apply), 3)


@question
def map_and_batch_of_both_kinds_of_parallel():
    return read(upto(5).apply(data.map_and_batch(lambda x: x, 2, 1, False, 2)), 1)


@question
def parallel_interleave():
    apply = data.parallel_interleave(lambda x: upto(3).map(lambda y: 10 * x + y), 2)
    return read(upto(3).apply(apply), 9)


@question
def parallel_interleave_by_blocks():
    apply = data.parallel_interleave(
        lambda x: upto(3).map(lambda y: 10 * x + y), cycle_length=2, block_length=2
    )
    return read(upto(3).apply(apply), 9)


@question
def batch_and_drop():
    return read(upto(5).apply(data.batch_and_drop_remainder(2)), 2)


@question
def batch_and_drop_ends():
    return read(upto(5).apply(data.batch_and_drop_remainder(2)), 3)


@question
def padded_batch_and_drop():
    lengths = upto(5).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x))
    return read(lengths.apply(data.padded_batch_and_drop_remainder(2, [None], np.int64(-1))), 2)


@question
def shuffle_and_repeat():
    dataset = upto(3).apply(data.shuffle_and_repeat(1, 2))
    return read(dataset, 6)


@question
def shuffle_and_repeat_forever():
    dataset = upto(3).apply(data.shuffle_and_repeat(buffer_size=1, seed=5))
    return read(dataset, 7)


@question
def unbatching():
    dataset = upto(4).batch(2).map(lambda x: {"a": x, "b": tf.stack([x, -x], 1)})
    return read(dataset.apply(data.unbatch()), 4)


@question
def enumerating():
    return read(upto(3).map(str_of).apply(data.enumerate_dataset(5)), 3)


def str_of(x):
    return tf.strings.as_string(x)


@question
def errors_are_left_out():
    dataset = upto(4).map(lambda x: tf.debugging.check_numerics(1 / (x - 1), ""))
    return read(dataset.apply(data.ignore_errors()), 3)


@question
def windows():
    return read(upto(6).apply(data.sliding_window_batch(3)), 4)


@question
def windows_with_stride():
    return read(upto(6).apply(data.sliding_window_batch(3, stride=2)), 2)


@question
def windows_with_shift():
    return read(upto(8).apply(data.sliding_window_batch(2, window_shift=3, window_stride=2)), 2)


@question
def windows_of_pairs():
    dataset = upto(4).map(lambda x: (x, {"y": -x}))
    return read(dataset.apply(data.sliding_window_batch(2)), 3)


@question
def windows_with_stride_and_shift():
    return read(upto(6).apply(data.sliding_window_batch(2, stride=1, window_shift=1)), 1)


@question
def groups_by_window():
    apply = data.group_by_window(lambda x: x % 2, lambda _, some: some.batch(2), window_size=2)
    return read(upto(6).apply(apply), 4)


@question
def groups_by_window_of_a_function():
    apply = data.group_by_window(
        lambda x: x % 2, lambda _, some: some.batch(9), window_size_func=lambda key: key + 1
    )
    return read(upto(6).apply(apply), 4)


@question
def reducers():
    reducer = data.Reducer(
        lambda _: np.int64(0), lambda total, x: total + x, lambda total: total * 10
    )
    return read(upto(6).apply(data.group_by_reducer(lambda x: x % 2, reducer)), 2)


@question
def reduced_at_once():
    reducer = data.Reducer(lambda _: np.int64(0), lambda total, x: total + x, lambda total: total)
    return {"sum": data.reduce_dataset(upto(6), reducer)}


@question
def buckets():
    dataset = upto(7).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x))
    apply = data.bucket_by_sequence_length(lambda x: tf.size(x), [3, 5], [2, 2, 2])
    return read(dataset.apply(apply), 4)


@question
def buckets_padded_to_their_bounds():
    dataset = upto(5).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x))
    apply = data.bucket_by_sequence_length(
        lambda x: tf.size(x), [3, 6], [2, 2, 2], pad_to_bucket_boundary=True
    )
    return read(dataset.apply(apply), 3)


@question
def scanning():
    apply = data.scan(np.int64(1), lambda state, x: (state + x, (state, x)))
    return read(upto(4).apply(apply), 4)


@question
def uniques():
    return read(upto(6).map(lambda x: x % 3).apply(data.unique()), 3)


@question
def one_element():
    return {"x": data.get_single_element(upto(1).map(lambda x: x + 4))}


@question
def one_element_of_two():
    return {"x": data.get_single_element(upto(2))}


@question
def choice():
    return read(
        data.choose_from_datasets(
            [upto(3), upto(3).map(lambda x: -x)], upto(4).map(lambda x: x % 2)
        ),
        4,
    )


@question
def samples_of_a_certain_one():
    return read(data.sample_from_datasets([upto(2), upto(3).map(lambda x: -x)], [0.0, 1.0]), 3)


@question
def counter():
    return read(data.Counter(3, 2), 3)


@question
def optional_next():
    iterator = tf.data.make_one_shot_iterator(upto(2))
    element = data.get_next_as_optional(iterator)
    value = tf.cond(element.has_value(), element.get_value, lambda: tf.constant(-1, tf.int64))
    return [{"value": value}] * 3


@question
def csv_columns():
    path = file_of("a,b\n1,x\n,y\n")
    return read(data.CsvDataset(path, [[5], tf.string], header=True), 2)


@question
def csv_chosen_columns():
    path = file_of("1;2.5;x\n3;n;y\n")
    dataset = data.CsvDataset(path, [0.0, ""], field_delim=";", na_value="n", select_cols=[1, 2])
    return read(dataset, 2)


@question
def csv_batches():
    path = file_of("a,b,c\n1,1.5,x\n2,2.5,\n3,3.5,z\n")
    dataset = data.make_csv_dataset(path, 2, label_name="c", shuffle=False, num_epochs=1)
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    return [{"x": element[0]["a"], "b": element[0]["b"], "label": element[1]}] * 2


@question
def csv_batches_forever():
    path = file_of("1,1.5\n2,2.5\n3,3.5\n")
    dataset = data.make_csv_dataset(
        path, 2, column_names=["a", "b"], header=False, shuffle=False, select_columns=["b"]
    )
    return read(dataset, 3)


@question
def feature_batches():
    dataset = data.make_batched_features_dataset(
        examples(), 4, FEATURES, num_epochs=2, shuffle=False
    )
    return read(dataset, 3)


@question
def feature_batches_with_label():
    features = dict(FEATURES, w=tf.io.VarLenFeature(tf.string))
    dataset = data.make_batched_features_dataset(
        examples(), 4, features, label_key="x", num_epochs=1, shuffle=False, drop_final_batch=True
    )
    words, label = tf.data.make_one_shot_iterator(dataset).get_next()
    return {"words": words["w"].values, "indices": words["w"].indices, "label": label}


@question
def feature_batches_of_the_older_name():
    batch = data.read_batch_features(examples(), 4, FEATURES, randomize_input=False, num_epochs=1)
    return [{"x": batch["x"]}] * 2


@question
def feature_batches_of_a_reader():
    batch = data.read_batch_features(
        examples(), 4, FEATURES, tf.data.TFRecordDataset, randomize_input=False, num_epochs=1
    )
    return [{"x": batch["x"]}] * 2


@question
def parsing():
    dataset = tf.data.TFRecordDataset(examples()).batch(4)
    return read(dataset.apply(data.parse_example_dataset(FEATURES, 2)), 2)


@question
def sparse_batches():
    dataset = upto(3).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x))
    dataset = dataset.apply(data.dense_to_sparse_batch(2, [4]))
    part = tf.data.make_one_shot_iterator(dataset).get_next()
    return [{"i": part.indices, "v": part.values, "s": part.dense_shape}] * 2


@question
def sloppy():
    apply = data.sloppy_interleave(lambda x: upto(2).map(lambda y: 10 * x + y), 1)
    return read(upto(2).apply(apply), 4)


@question
def sql():
    path = os.path.join(directory(), "data.sqlite")
    with sqlite3.connect(path) as connection:
        connection.execute("create table t (a integer, b text)")
        connection.execute("insert into t values (1, 'x'), (2, 'y')")
    types = (tf.int64, tf.string)
    return read(data.SqlDataset("sqlite", path, "select a, b from t order by a", types), 2)


@question
def resampled():
    apply = data.rejection_resample(
        lambda x: tf.cast(x % 2, tf.int32), [0.0, 1.0], initial_dist=[0.5, 0.5], seed=1
    )
    return read(upto(6).apply(apply), 3)


@question
def records_written():
    path = os.path.join(directory(), "out")
    write = data.TFRecordWriter(path).write(tf.data.Dataset.from_tensor_slices(["a", "b"]))
    with tf.control_dependencies([write]):
        paths = tf.constant([path])
    return [{"op": write}, {"content": tf.strings.length(tf.io.read_file(paths[0]))}]


if __name__ == "__main__":
    main()
