"""Export outputs and input receivers."""

from __future__ import annotations

import ask_export
import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from outcomes import described, outcome, recorded

from estimator_train import export
from estimator_train.export import receivers

GOLDEN = recorded("export")
QUESTIONS = ask_export.questions(export, receivers.build_raw_supervised_input_receiver_fn, tf_keras)


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_results_equal_those_of_tf_estimator(name: str) -> None:
    """Compares with recorded results; our error texts may add the wrong value at the end."""
    ours, theirs = outcome(QUESTIONS[name]), GOLDEN[name]
    assert ours.pop("text", "").startswith(theirs.pop("text", ""))
    assert ours == theirs


def test_a_raw_receiver_may_be_described_by_specs_and_arrays() -> None:
    receiver_fn = export.build_raw_serving_input_receiver_fn(
        {"a": tf.TensorSpec([None, 2], tf.int32, name="a"), "b": np.zeros([3, 4], np.float32)}, 5
    )
    with tf.Graph().as_default():
        assert described(receiver_fn().features) == {
            "a": "<tf.Tensor 'a:0' shape=(5, 2) dtype=int32>",
            "b": "<tf.Tensor 'Placeholder:0' shape=(5, 4) dtype=float32>",
        }


def test_a_raw_receiver_may_be_described_by_eager_tensors() -> None:
    receiver_fn = export.build_raw_serving_input_receiver_fn({"a": tf.zeros([1, 2])})
    with tf.Graph().as_default():
        assert receiver_fn().features["a"].shape.as_list() == [None, 2]


@pytest.mark.parametrize("features", [None, [1.0], 3])
def test_a_raw_receiver_needs_a_dict(features: object) -> None:
    with pytest.raises(ValueError, match="features must be a dict of feature name to Tensor"):
        export.build_raw_serving_input_receiver_fn(features)


def test_an_example_without_a_shape_is_named() -> None:
    with pytest.raises(ValueError, match=r"feature a must be a Tensor .* given: 1\.5"):
        export.build_raw_serving_input_receiver_fn({"a": 1.5})
    with pytest.raises(ValueError, match="label label must be a Tensor .* given: None"):
        receivers.build_raw_supervised_input_receiver_fn({"a": tf.zeros([1])}, None)


def test_a_parsing_receiver_returns_the_serialized_values() -> None:
    receiver_fn = export.build_parsing_serving_input_receiver_fn(
        {"a": tf.io.FixedLenFeature([2], tf.float32)}
    )
    feature = tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))
    example = tf.train.Example(features=tf.train.Features(feature={"a": feature}))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        receiver = receiver_fn()
        feed = {receiver.receiver_tensors["examples"]: [example.SerializeToString()]}
        assert session.run(receiver.features["a"], feed).tolist() == [[1.0, 2.0]]


def test_an_eval_output_of_a_keras_metric_without_updates_is_rejected() -> None:
    with tf.Graph().as_default():
        metric = tf_keras.metrics.Mean(name="average")
        with pytest.raises(ValueError, match=r'call update_state\(...\) on the "average" metric'):
            export.EvalOutput(tf.constant(1.0), None, {"m": metric})
