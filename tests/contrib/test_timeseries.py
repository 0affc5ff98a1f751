"""Input of `tf.contrib.timeseries` that is random in TensorFlow 1.15, and missing models."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_train.legacy.old_names import TF1, tree
from tf_contrib import timeseries
from tf_contrib.timeseries.input_pipeline import TFExampleReader

TIMES = np.arange(5, 35)
SERIES = {"times": TIMES, "values": np.sqrt(TIMES)}


def batches(input_fn, count):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        features, labels = input_fn()
        assert labels is None
        return [session.run(features) for _ in range(count)]


def windows(**named):
    reader = timeseries.NumpyReader(SERIES)
    input_fn = timeseries.RandomWindowInputFn(reader, window_size=6, batch_size=20, **named)
    return batches(input_fn, 10)


def first_times(read_batches):
    return np.concatenate([batch["times"][:, 0] for batch in read_batches])


def test_windows_start_at_any_time_and_are_complete():
    read_batches = windows(shuffle_seed=1)
    assert set(first_times(read_batches)) == set(range(5, 30))
    for batch in read_batches:
        assert (np.diff(batch["times"]) == 1).all()
        np.testing.assert_allclose(batch["values"][..., 0], np.sqrt(batch["times"]))


def test_windows_without_jitter_start_at_multiples_of_their_size():
    assert set(first_times(windows(jitter=False))) == {5, 11, 17, 23, 29}


def test_windows_repeat_with_the_same_seed():
    first, repeated, other = (first_times(windows(shuffle_seed=seed)) for seed in (3, 3, 4))
    assert (first == repeated).all()
    assert (first != other).any()


def test_series_shorter_than_a_window_raises():
    reader = timeseries.NumpyReader(SERIES)
    input_fn = timeseries.RandomWindowInputFn(reader, window_size=31, batch_size=1)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="must have at least window_size=31 times"
    ):
        batches(input_fn, 1)


def test_tf_example_reader_joins_files(tmp_path):
    path = str(tmp_path / "series.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for time, value in zip(TIMES, SERIES["values"], strict=True):
            feature = {
                "times": tf.train.Feature(int64_list=tf.train.Int64List(value=[time])),
                "values": tf.train.Feature(float_list=tf.train.FloatList(value=[value, -value])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())
    features = {
        "times": tf.io.FixedLenFeature([], tf.int64),
        "values": tf.io.FixedLenFeature([2], tf.float32),
    }
    reader = TFExampleReader([path, path], features)
    (series,) = batches(timeseries.WholeDatasetInputFn(reader), 1)
    np.testing.assert_array_equal(series["times"], [[*TIMES, *TIMES]])
    np.testing.assert_allclose(series["values"][0, 30:, 1], -SERIES["values"], rtol=1e-6)
    with pytest.raises(ValueError, match="features must contain 'values'"):
        TFExampleReader(path, {"times": features["times"]})


@pytest.mark.parametrize("path", ["", ".python.timeseries.estimators"])
def test_missing_models_name_a_replacement(path):
    module = tree(TF1).module(f"tensorflow.contrib.timeseries{path}")
    with pytest.raises(AttributeError, match="Use tf.contrib.timeseries.StructuralEnsembleReg"):
        _ = module.StateSpaceRegressor
