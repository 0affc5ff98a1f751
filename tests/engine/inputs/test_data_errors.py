"""Errors of wrong data: one line that names the column, or the file and its line."""

import numpy as np
import pytest
import tensorflow as tf
import tiers

import estimator_train as est

column = tf.feature_column


def model_fn(features, labels, mode):
    numbers = tf.cast(features["x"], tf.float32)
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode, numbers)
    loss = tf.reduce_mean(numbers) + tf.reduce_mean(tf.cast(labels, tf.float32))
    step = tf.compat.v1.train.get_global_step()
    return est.EstimatorSpec(mode, loss=loss, train_op=step.assign_add(1))


def make_own(model_dir):
    return est.Estimator(model_fn, model_dir)


def make_linear(model_dir, *columns, **settings):
    columns = columns or [column.numeric_column("x")]
    return est.LinearClassifier(columns, model_dir, **settings)


def slices(features, labels, size=2):
    return lambda: tf.data.Dataset.from_tensor_slices((features, labels)).batch(size)


def fail(estimator, input_fn, verb="train"):
    """Runs a verb of an Estimator to the end of the input, and returns its error."""
    with pytest.raises(tf.errors.OpError) as caught:
        list(getattr(estimator, verb)(input_fn))
    assert "\n" not in caught.value.message
    return caught.value


@pytest.mark.parametrize(
    ("make", "verb"),
    tiers.every(2, [(make_own, "train"), (make_own, "evaluate"), (make_linear, "train")]),
)
def test_strings_in_a_numeric_column_are_an_error_that_names_it(tmp_path, make, verb):
    error = fail(make(tmp_path), slices({"x": ["1", "b"], "c": ["u", "v"]}, [0, 1]), verb)
    assert isinstance(error, tf.errors.UnimplementedError)
    assert error.message.startswith("features['x'] has strings where the model needs numbers: ")
    assert "tf.strings.to_number" in error.message


def test_string_labels_are_an_error_that_names_them(tmp_path):
    error = fail(make_own(tmp_path), slices({"x": [1.0, 2.0]}, ["0", "1"]))
    assert error.message.startswith("labels has strings where the model needs numbers: ")


def test_strings_on_replicas_are_named_too(tmp_path):
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    config = est.RunConfig(train_distribute=strategy)
    error = fail(make_linear(tmp_path, config=config), slices({"x": ["1", "b"]}, [0, 1]))
    assert error.message.startswith("features['x'] has strings")


def train_with_vocabulary(tmp_path, lines, values, **settings):
    file = tmp_path / "words.txt"
    file.write_text("".join(f"{line}\n" for line in lines))
    words = column.categorical_column_with_vocabulary_file("x", str(file), **settings)
    estimator = make_linear(tmp_path / "model", words)
    return str(file), fail(estimator, slices({"x": values}, [0, 1]))


def test_an_entry_that_is_twice_in_a_vocabulary_file_is_named_with_its_lines(tmp_path):
    file, error = train_with_vocabulary(tmp_path, ["u", "v", "w", "v"], ["u", "v"])
    assert isinstance(error, tf.errors.FailedPreconditionError)
    assert error.message.startswith(f"{file} has 'v' in lines 2 and 4: remove one of them (")


def test_an_entry_of_another_type_is_named_with_its_line(tmp_path):
    file, error = train_with_vocabulary(tmp_path, ["1", "x"], [1, 2], dtype=tf.int64)
    assert isinstance(error, tf.errors.InvalidArgumentError)
    assert error.message.startswith(f"{file}, line 2: 'x' is not int64")


def test_a_vocabulary_file_that_is_too_short_is_named_with_both_sizes(tmp_path):
    file, error = train_with_vocabulary(tmp_path, ["u", "v"], ["u", "v"], vocabulary_size=5)
    text = f"{file} has 2 lines where the column has vocabulary_size=5"
    assert error.message.startswith(text)


def test_a_label_outside_of_label_vocabulary_is_named(tmp_path):
    estimator = make_linear(tmp_path, n_classes=3, label_vocabulary=["a", "b", "c"])
    error = fail(estimator, slices({"x": [1.0, 2.0]}, ["a", "zebra"]))
    text = "label_vocabulary does not contain zebra: correct the labels, or add them to "
    assert text in error.message


@pytest.mark.parametrize("row", [1, 250])  # In the first session call, and in a loop.
def test_a_label_above_the_classes_is_shown_with_the_limit(tmp_path, row):
    labels = np.zeros(300, np.int64)
    labels[row] = 7
    features = {"x": np.ones(300, np.float32)}
    error = fail(make_linear(tmp_path, n_classes=3), slices(features, labels, 1))
    assert isinstance(error, tf.errors.InvalidArgumentError)
    assert error.message.startswith("Labels must be <= n_classes - 1 = 2, but a batch has [7]: ")


def test_a_class_that_the_logits_do_not_have_is_named(tmp_path):
    def classifier_fn(features, labels, mode):
        logits = tf.tile(features["x"][:, tf.newaxis], [1, 2])
        loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
        step = tf.compat.v1.train.get_global_step()
        return est.EstimatorSpec(mode, loss=loss, train_op=step.assign_add(1))

    error = fail(est.Estimator(classifier_fn, tmp_path), slices({"x": [1.0, 2.0]}, [0, 5]))
    text = "labels has 5 where the model has 2 classes: labels must be 0 to 1"
    assert error.message.startswith(text)


def test_examples_of_two_shapes_are_an_error_that_names_the_column(tmp_path):
    def rows():
        yield {"a": [1.0], "x": [1.0]}, 0
        yield {"a": [1.0], "x": [1.0, 2.0]}, 1

    signature = {"a": tf.TensorSpec([1]), "x": tf.TensorSpec([None])}, tf.TensorSpec([], tf.int32)

    def input_fn():
        dataset = tf.data.Dataset.from_generator(rows, output_signature=signature)
        return dataset.batch(2).prefetch(1)

    error = fail(make_own(tmp_path), input_fn)
    assert error.message.startswith("features['x'] has shape [1] and shape [2] in one batch: ")
    error = fail(make_own(tmp_path), lambda: input_fn().map(lambda x, y: (x, y)))
    assert error.message.startswith("component 1 of the examples has shape [1] and shape [2]")


def parse(line):
    x, label = tf.io.decode_csv(line, [[0.0], [0]])
    return {"x": x}, label


def read_lines(pattern):
    files = tf.data.Dataset.list_files(pattern, shuffle=False)
    return files.interleave(tf.data.TextLineDataset, cycle_length=1).map(parse).batch(1)


def read_csv(pattern):
    return (
        tf.data.experimental.CsvDataset(pattern, [0.0, 0]).map(lambda x, y: ({"x": x}, y)).batch(1)
    )


@pytest.mark.parametrize("verb", tiers.first({"train"}, ["train", "evaluate", "predict"]))
@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("z,1", "field 1 is 'z', expected float"),
        ("5,1,1", "has 3 fields, expected 2"),
    ],
)
def test_a_wrong_row_is_named_with_file_and_line(tmp_path, verb, row, reason):
    good = "".join(f"{number},1\n" for number in range(150))
    (tmp_path / "a.csv").write_text(good)
    (tmp_path / "b.csv").write_text(f"{good}{row}\n")
    make_own(tmp_path / "model").train(slices({"x": [1.0]}, [1.0]))
    error = fail(make_own(tmp_path / "model"), lambda: read_lines(f"{tmp_path}/*.csv"), verb)
    assert isinstance(error, tf.errors.InvalidArgumentError)
    assert error.message.startswith(f"{tmp_path}/b.csv, line 151: {reason} (")


def test_a_wrong_row_of_a_csv_dataset_is_named_with_file_and_line(tmp_path):
    (tmp_path / "a.csv").write_text("1,1\n2,1\n3,many\n")
    error = fail(make_own(tmp_path / "model"), lambda: read_csv(f"{tmp_path}/a.csv"))
    assert error.message.startswith(f"{tmp_path}/a.csv, line 3: field 2 is 'many', expected int")


def read_records(files):
    records = tf.data.Dataset.from_tensor_slices(files).interleave(tf.data.TFRecordDataset)
    return records.map(lambda record: ({"x": tf.strings.length(record)}, 0)).batch(1)


def test_the_damaged_one_of_several_files_of_records_is_named(tmp_path):
    files = [str(tmp_path / name) for name in "abc"]
    for file in files:
        with tf.io.TFRecordWriter(file) as writer:
            for _ in range(20):
                writer.write(b"record")
    data = bytearray((tmp_path / "b").read_bytes())
    data[50] ^= 255
    (tmp_path / "b").write_bytes(data)
    error = fail(make_own(tmp_path / "model"), lambda: read_records(files))
    assert isinstance(error, tf.errors.DataLossError)
    assert error.message.startswith(f"{files[1]}: corrupted record at ")
    assert "get a fresh copy" in error.message


def test_a_file_that_is_missing_is_named(tmp_path):
    file = str(tmp_path / "none")
    error = fail(make_own(tmp_path / "model"), lambda: read_records([file]))
    assert isinstance(error, tf.errors.NotFoundError)
    assert error.message.startswith(f"There is no file {file}: correct the path")


def test_an_error_of_the_model_shows_the_users_lines_alone(tmp_path):
    def wrong_fn(features, labels, mode):
        x = tf.reshape(features["x"] + features["a"], [-1, 7])  # The wrong line.
        return model_fn({"x": x}, labels, mode)

    input_fn = slices({"x": [1.0, 2.0], "a": [1.0, 2.0]}, [0, 1])
    estimator = est.Estimator(wrong_fn, tmp_path)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        estimator.train(input_fn)
    lines = caught.value.message.splitlines()
    assert "Input to reshape is a tensor with 2 values" in lines[0]
    files = [line for line in lines if "File" in line]
    assert files
    assert all(__file__ in line for line in files)
