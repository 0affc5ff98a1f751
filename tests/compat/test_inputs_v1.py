import json
import threading

import ask_inputs
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf
from outcomes import recorded

import estimator_train.compat.v1 as tf_estimator
from estimator_train.compat.v1 import inputs

tf1 = tf.compat.v1


@pytest.fixture(scope="module")
def answers():
    return ask_inputs.ask(inputs)


def test_graphs_batches_and_errors_equal_those_of_tf_estimator(answers):
    wanted = recorded("inputs")
    assert set(answers) == set(wanted)
    for name, answer in answers.items():
        assert plain(answer) == plain(wanted[name]), name


def plain(answer):
    """Replaces the dtype of an index of names: pandas 2 and 3 print different names."""
    return json.loads(json.dumps(answer).replace("dtype='object'", "dtype='str'"))


def model(features, labels, mode):
    predictions = {"sum": features["a"] + features["b"]}
    if mode == tf_estimator.ModeKeys.PREDICT:
        return tf_estimator.EstimatorSpec(mode, predictions)
    weight = tf1.get_variable("w", [], initializer=tf1.zeros_initializer())
    loss = tf.reduce_mean((weight - labels) ** 2)
    step = tf1.train.get_global_step()
    train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    return tf_estimator.EstimatorSpec(mode, predictions, loss, train_op)


def test_an_estimator_trains_and_evaluates_from_queues(tmp_path):
    x = {"a": np.arange(10.0), "b": np.ones(10)}
    labels = np.linspace(0, 1, 10).astype(np.float32)
    estimator = tf_estimator.Estimator(model, str(tmp_path))
    estimator.train(
        inputs.numpy_input_fn(x, labels, batch_size=4, num_epochs=3, shuffle=True)
    )  # 30 rows in batches of 4, the last of 2
    input_fn = inputs.numpy_input_fn(x, labels, batch_size=4, shuffle=False)
    assert estimator.evaluate(input_fn)["global_step"] == 8
    found = [p["sum"] for p in estimator.predict(inputs.numpy_input_fn(x, shuffle=False))]
    assert found == [*range(1, 11)]
    names = [thread.name for thread in threading.enumerate() if "_fill" in thread.name]
    assert names == []


def test_strings_of_a_data_frame_become_bytes():
    frame = pd.DataFrame({"s": ["x", "yy"], "n": pd.array([1, 2], dtype="Int64")})
    with tf.Graph().as_default():
        features = inputs.pandas_input_fn(frame, batch_size=2, shuffle=False)()
        with tf1.train.MonitoredSession() as session:
            found = session.run(features)
    assert found["s"].tolist() == [b"x", b"yy"]
    assert found["n"].tolist() == [1, 2]


def test_a_data_frame_without_rows_raises_an_error():
    with pytest.raises(ValueError, match="x cannot be an empty frame"):
        inputs.pandas_input_fn(pd.DataFrame({"a": []}), shuffle=False)


def test_an_error_of_the_feeding_thread_ends_the_session():
    mixed = np.array(["x", 3], object)
    with tf.Graph().as_default():
        feature = inputs.numpy_input_fn(mixed, batch_size=2, shuffle=False)()
        with (
            pytest.raises((tf.errors.InternalError, TypeError)),
            tf1.train.MonitoredSession() as session,
        ):
            session.run(feature)
