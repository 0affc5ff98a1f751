"""Predictors of an Estimator's checkpoints.

These tests cover `predictor/live.py`.
"""

import threading
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est

X = np.random.RandomState(1).randn(5, 3).astype(np.float32)


def model_fn(features, labels, mode):
    x = features["x"] if isinstance(features, dict) else features
    w = tf.compat.v1.get_variable("w", [3, 2], initializer=tf.compat.v1.ones_initializer())
    outputs = {"y": tf.matmul(x, w), "n": tf.reduce_sum(x, axis=1)}
    if mode == est.ModeKeys.PREDICT:
        signatures = {
            "serving_default": est.export.PredictOutput(outputs),
            "sums": est.export.PredictOutput({"outputs": outputs["n"]}),
        }
        return est.EstimatorSpec(mode, predictions=outputs, export_outputs=signatures)
    loss = tf.reduce_mean((outputs["y"] - labels) ** 2)
    step = tf.compat.v1.train.get_global_step()
    train_op = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    labels = np.zeros([5, 2], np.float32)
    return tf.data.Dataset.from_tensors(({"x": X}, labels)).repeat()


def serving_input_receiver_fn():
    x = tf.compat.v1.placeholder(tf.float32, [None, 3])
    return est.export.ServingInputReceiver({"x": x * 2.0}, {"half": x})


@pytest.fixture(scope="module")
def estimator(tmp_path_factory):
    return est.Estimator(model_fn, tmp_path_factory.mktemp("model")).train(input_fn, steps=3)


def predicted(estimator, batch=X):
    def one_batch():
        return tf.data.Dataset.from_tensors({"x": batch})

    return next(estimator.predict(one_batch, yield_single_examples=False))


@pytest.fixture
def growing(tmp_path):
    return est.Estimator(model_fn, tmp_path).train(input_fn, steps=1)


def test_results_equal_those_of_predict_for_every_batch_size(estimator):
    expected = estimator.get_variable_value("w")
    with estimator.predictor() as predictor:
        for rows in (X, X[:1], X[:0]):
            found = predictor.predict({"x": rows})
            np.testing.assert_allclose(found["y"], rows @ expected, rtol=1e-5)
            np.testing.assert_allclose(found["n"], rows.sum(1), rtol=1e-5)


def test_model_is_built_once(tmp_path):
    built = []

    def counting_model_fn(features, mode):
        built.append(mode)
        return est.EstimatorSpec(mode, predictions=features["x"] * 2)

    with est.Estimator(counting_model_fn, tmp_path).predictor() as predictor:
        for _ in range(3):
            np.testing.assert_array_equal(predictor.predict({"x": X}), X * 2)
    assert built == [est.ModeKeys.PREDICT]


def test_features_may_be_a_single_array(estimator):
    with estimator.predictor(predict_keys="n") as predictor:
        assert predictor([[1.0, 2.0, 3.0]]) == {"n": [6.0]}


def test_receiver_determines_the_inputs(estimator):
    with estimator.predictor(serving_input_receiver_fn) as predictor:
        np.testing.assert_allclose(predictor.predict(X)["n"], 2 * X.sum(1), rtol=1e-5)
        np.testing.assert_allclose(predictor({"half": X})["n"], 2 * X.sum(1), rtol=1e-5)


def test_from_estimator_computes_an_export_output(estimator):
    default = est.predictor.from_estimator(estimator, serving_input_receiver_fn)
    np.testing.assert_allclose(default({"half": X})["y"], predicted(estimator, 2 * X)["y"])
    sums = est.predictor.from_estimator(estimator, serving_input_receiver_fn, "sums")
    np.testing.assert_allclose(sums({"half": X})["outputs"], 2 * X.sum(1), rtol=1e-5)
    text = 'Got output_key "other".*serving_default.*sums.*output_key chooses one'
    with pytest.raises(ValueError, match=text):
        est.predictor.from_estimator(estimator, serving_input_receiver_fn, "other")


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ({"z": X}, r"unexpected keys in input_dict: \['z'\]\nexpected: \['x'\]"),
        ({"x": X[:, :2]}, r"'x' has the shape \(5, 2\), but the model takes \(None, 3\)"),
        ({"x": X[0]}, r"\(3,\).*Put a single example into a list"),
        ({"x": [["a", "b", "c"]]}, "'x' is <U1, but the model takes float32"),
    ],
)
def test_mismatched_batches_are_rejected(estimator, batch, message):
    with estimator.predictor() as predictor:
        predictor.predict({"x": X})
        with pytest.raises(ValueError, match=message):
            predictor.predict(batch)


def test_a_closed_predictor_raises_an_error(estimator):
    for predictor in (estimator.predictor(), estimator.predictor(serving_input_receiver_fn)):
        predictor.close()
        with pytest.raises(ValueError, match="This predictor is closed"):
            predictor.predict({"x": X})


def test_threads_can_share_a_predictor(estimator):
    expected = estimator.get_variable_value("w")
    wrong = []

    def ask(seed):
        for rows in range(1, 40):
            x = np.random.RandomState(seed * 100 + rows).randn(rows, 3).astype(np.float32)
            if not np.allclose(predictor.predict({"x": x})["y"], x @ expected, rtol=1e-4):
                wrong.append((seed, rows))

    with estimator.predictor() as predictor:
        threads = [threading.Thread(target=ask, args=[seed]) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_newer_checkpoints_are_loaded_only_with_reload(growing):
    before = growing.get_variable_value("w")
    with growing.predictor() as stays, growing.predictor(reload=True) as follows:
        for predictor in (stays, follows):
            np.testing.assert_allclose(predictor({"x": X})["y"], X @ before, rtol=1e-5)
        growing.train(input_fn, steps=5)
        after = growing.get_variable_value("w")
        assert not np.allclose(before, after)
        np.testing.assert_allclose(stays({"x": X})["y"], X @ before, rtol=1e-5)
        np.testing.assert_allclose(follows({"x": X})["y"], X @ after, rtol=1e-5)
        assert follows.checkpoint_path == growing.latest_checkpoint()


def test_unreadable_newer_checkpoints_are_ignored(growing, tmp_path, caplog):
    before = growing.get_variable_value("w")
    with growing.predictor(reload=True) as predictor:
        predictor({"x": X})
        (tmp_path / "model.ckpt-9.index").write_bytes(b"torn")
        (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-9"\n')
        np.testing.assert_allclose(predictor({"x": X})["y"], X @ before, rtol=1e-5)
        assert "model.ckpt-1 instead" in caplog.text
        for path in tmp_path.glob("*.index"):
            path.write_bytes(b"torn")
        (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-1"\n')
        np.testing.assert_allclose(predictor({"x": X})["y"], X @ before, rtol=1e-5)
    assert "still predicting from" in caplog.text


def test_reload_and_a_fixed_checkpoint_exclude_each_other(estimator):
    with pytest.raises(ValueError, match="reload=True follows the latest checkpoint"):
        estimator.predictor(checkpoint_path=estimator.latest_checkpoint(), reload=True)


@pytest.mark.parametrize("kind", [str, Path])
def test_older_checkpoint_is_loaded_on_request(growing, kind):
    first = kind(growing.latest_checkpoint())
    before = growing.get_variable_value("w")
    growing.train(input_fn, steps=2)
    with growing.predictor(checkpoint_path=first) as predictor:
        np.testing.assert_allclose(predictor({"x": X})["y"], X @ before, rtol=1e-5)


def test_strings_and_integers_keep_their_types(tmp_path):
    def lengths_model_fn(features, mode):
        found = {"length": tf.strings.length(features["s"]), "next": features["i"] + 1}
        return est.EstimatorSpec(mode, predictions=found)

    with est.Estimator(lengths_model_fn, tmp_path).predictor() as predictor:
        found = predictor.predict({"s": ["a", "abc"], "i": [1, 2]})
        assert found["length"].tolist() == [1, 3]
        assert found["next"].tolist() == [2, 3]
        assert found["next"].dtype == np.int32


def test_a_number_that_becomes_another_one_is_named(tmp_path, caplog):
    def echo_model_fn(features, mode):
        return est.EstimatorSpec(mode, predictions={"i": features["i"] + 1})

    with est.Estimator(echo_model_fn, tmp_path).predictor() as predictor:
        assert predictor.predict({"i": [1]})["i"].dtype == np.int32
        assert predictor.predict({"i": np.array([2**20])})["i"].tolist() == [2**20 + 1]
        assert "does not hold" not in caplog.text
        # As under tf.estimator.
        assert predictor.predict({"i": np.array([1, 2**40 + 7])})["i"].tolist() == [2, 8]
    assert "'i' has the number 1099511627783, which int32 of the model does not" in caplog.text


@pytest.mark.parametrize("as_array", [False, True])
def test_strings_keep_trailing_zero_bytes(tmp_path, as_array):
    def echo_model_fn(features, mode):
        return est.EstimatorSpec(mode, predictions={"s": tf.identity(features["s"])})

    # A serialized message ends with zero bytes if its last float is 0.0.
    texts = [[b"a\x00", b"b"], [b"\x00", b"long\x00\x00"]]
    with est.Estimator(echo_model_fn, tmp_path).predictor() as predictor:
        found = predictor.predict({"s": np.array(texts, object) if as_array else texts})
    assert found["s"].tolist() == texts
