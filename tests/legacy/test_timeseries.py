"""Input of `tf.contrib.timeseries` where TensorFlow 1.15's is random, and what is not there."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_train.legacy.contrib import timeseries
from estimator_train.legacy.contrib.timeseries.input_pipeline import TFExampleReader
from estimator_train.legacy.trees import TF1, tree

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


def starts(found):
    return np.concatenate([batch["times"][:, 0] for batch in found])


def test_windows_begin_anywhere_and_are_whole():
    found = windows()
    assert set(starts(found)) == set(range(5, 30))
    for batch in found:
        assert (np.diff(batch["times"]) == 1).all()
        np.testing.assert_allclose(batch["values"][..., 0], np.sqrt(batch["times"]))


def test_windows_without_jitter_begin_at_multiples_of_their_size():
    assert set(starts(windows(jitter=False))) == {5, 11, 17, 23, 29}


def test_a_seed_repeats_the_windows():
    first, again, other = (starts(windows(shuffle_seed=seed)) for seed in (3, 3, 4))
    assert (first == again).all()
    assert (first != other).any()


def test_a_series_shorter_than_a_window_is_told():
    reader = timeseries.NumpyReader(SERIES)
    input_fn = timeseries.RandomWindowInputFn(reader, window_size=31, batch_size=1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="shorter than window_size=31"):
        batches(input_fn, 1)


def test_examples_in_files_are_a_series(tmp_path):
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
    (whole,) = batches(timeseries.WholeDatasetInputFn(reader), 1)
    np.testing.assert_array_equal(whole["times"], [[*TIMES, *TIMES]])
    np.testing.assert_allclose(whole["values"][0, 30:, 1], -SERIES["values"], rtol=1e-6)
    with pytest.raises(ValueError, match="features lack 'values'"):
        TFExampleReader(path, {"times": features["times"]})


@pytest.mark.parametrize("path", ["", ".python.timeseries.estimators"])
def test_other_models_say_what_to_use(path):
    module = tree(TF1).module(f"tensorflow.contrib.timeseries{path}")
    with pytest.raises(AttributeError, match="Use tf.contrib.timeseries.StructuralEnsembleReg"):
        _ = module.StateSpaceRegressor
