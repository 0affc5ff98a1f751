"""Input functions of `compat.v1` read arrays and frames.

These tests cover `v1/inputs/feeding.py`.
"""

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
    threads = [thread for thread in threading.enumerate() if "_fill" in thread.name]
    for thread in threads:
        thread.join(60)
    assert [thread.name for thread in threads if thread.is_alive()] == []


def test_strings_of_a_data_frame_become_bytes():
    frame = pd.DataFrame({"s": ["x", "yy"], "n": pd.array([1, 2], dtype="Int64")})
    with tf.Graph().as_default():
        features = inputs.pandas_input_fn(frame, batch_size=2, shuffle=False)()
        with tf1.train.MonitoredSession() as session:
            found = session.run(features)
    assert found["s"].tolist() == [b"x", b"yy"]
    assert found["n"].tolist() == [1, 2]


def read_batch(input_fn):
    with tf.Graph().as_default():
        features = input_fn()
        with tf.compat.v1.train.MonitoredSession() as session:
            return session.run(features)


def test_columns_of_categories_and_nullable_columns_become_their_values():
    frame = pd.DataFrame(
        {
            "number": pd.Series([10, 20, 10], dtype="category"),
            "share": pd.Series([0.5, 0.5, 1.5], dtype="category"),
            "flag": pd.Series([True, False, True], dtype="category"),
            "word": pd.Series(["b", "a", "b"], dtype="category"),
            "count": pd.Series([1, None, 3], dtype="Int64"),
            "text": pd.Series(["x", "y", "z"], dtype="string"),
        }
    )
    found = read_batch(inputs.pandas_input_fn(frame, batch_size=3, shuffle=False))
    np.testing.assert_array_equal(found.pop("count"), [1, np.nan, 3])
    assert {name: values.tolist() for name, values in found.items()} == {
        "number": [10, 20, 10],
        "share": [0.5, 0.5, 1.5],
        "flag": [True, False, True],
        "word": [b"b", b"a", b"b"],
        "text": [b"x", b"y", b"z"],
    }


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        (pd.Series(["a", None], dtype="string"), TypeError, r"no value in 1 row"),
        (pd.Series([True, None], dtype="category"), TypeError, r"no value in 1 row"),
        (pd.to_datetime(["2020-01-01"] * 2), TypeError, "numbers, bools or strings"),
        (pd.Series(["a", 1.5], dtype=object), tf.errors.InternalError, r"the value 1.5 \(float\)"),
    ],
    ids=["strings", "categories", "dates", "objects"],
)
def test_an_error_names_the_column_that_has_no_tensor(values, error, text):
    frame = pd.DataFrame({"other": [1, 2], "wrong": values})
    with pytest.raises(error, match=f"Column 'wrong' of x .*{text}"):
        read_batch(inputs.pandas_input_fn(frame, batch_size=2, shuffle=False))
    if error is tf.errors.InternalError:
        arrays = {name: frame[name].to_numpy() for name in frame}
        with pytest.raises(error, match=rf"x\['wrong'\] .*{text}"):
            read_batch(inputs.numpy_input_fn(arrays, batch_size=2, shuffle=False))


def test_two_columns_of_one_name_and_frames_of_polars_are_named():
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(ValueError, match=r"Columns of x .* got \['a'\] twice"):
        inputs.pandas_input_fn(twice, shuffle=False)

    class DataFrame:  # The tests do not install polars.
        columns = ("a",)

        def to_pandas(self):
            raise NotImplementedError

    with pytest.raises(TypeError, match=r"got DataFrame: pass .* to_pandas"):
        inputs.pandas_input_fn(DataFrame(), shuffle=False)


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


FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Series(["u", 2.5], dtype=object)})


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: inputs.pandas_input_fn(FRAME, shuffle=False), "Column 'b' of x"),
        (lambda: inputs.pandas_input_fn(FRAME[["a"]], FRAME["b"], shuffle=False), "y"),
        (lambda: inputs.numpy_input_fn({"b": FRAME["b"].to_numpy()}, shuffle=False), "x['b']"),
        (lambda: inputs.numpy_input_fn(FRAME["b"].to_numpy(), shuffle=False), "x"),
    ],
)
def test_a_column_of_numbers_and_strings_is_an_error_that_names_it(make, name):
    with tf.Graph().as_default():
        tensors = make()()
        # tf.estimator raises this type too.
        with (
            pytest.raises(tf.errors.InternalError) as caught,
            tf1.train.MonitoredSession() as session,
        ):
            session.run(tensors)
    assert caught.value.message.startswith(f"{name} has the value 2.5 (float) in row 1,")


def test_rows_before_a_wrong_one_are_read():
    column = np.array(["u"] * 40 + [2.5], object)
    with tf.Graph().as_default():
        batch = inputs.numpy_input_fn(column, batch_size=2, shuffle=False, queue_capacity=2)()
        with tf1.train.MonitoredSession() as session:
            assert session.run(batch).tolist() == [b"u", b"u"]
