"""EstimatorSpec and ModeKeys."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import ask_spec
import pytest
import tensorflow as tf
import tf_keras
from outcomes import described, outcome, recorded

from estimator_train.estimator_spec import EstimatorSpec, ModeKeys, export_outputs

GOLDEN = recorded("spec")
QUESTIONS = ask_spec.questions(
    SimpleNamespace(EstimatorSpec=EstimatorSpec, export=export_outputs), tf_keras
)


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_answers_equal_the_recorded_ones(name: str) -> None:
    assert outcome(QUESTIONS[name]) == GOLDEN[name]


def test_mode_keys_equal_the_recorded_ones() -> None:
    assert (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT) == ("train", "eval", "infer")


def test_eager_tensors_belong_to_no_graph() -> None:
    spec = EstimatorSpec("train", loss=tf.constant([2.0]), train_op=tf.constant(0))
    assert spec.loss.numpy() == 2.0


def test_a_variable_as_train_op_becomes_its_operation() -> None:
    with tf.Graph().as_default():
        variable = tf.compat.v1.get_variable("x", [])
        spec = EstimatorSpec("train", loss=tf.constant(1.0), train_op=variable)
        assert spec.train_op is variable.op


def test_numbers_as_metric_are_refused_by_name() -> None:
    with tf.Graph().as_default(), pytest.raises(TypeError, match=r"given: 2\.0 for key: m"):
        EstimatorSpec("eval", loss=tf.constant(1.0), eval_metric_ops={"m": (2.0, tf.no_op())})


def test_an_unknown_field_cannot_be_replaced() -> None:
    with tf.Graph().as_default():
        spec = EstimatorSpec("eval", loss=tf.constant(1.0))
        with pytest.raises(ValueError, match=r"unexpected field names: \['los'\]"):
            spec._replace(los=tf.constant(2.0))


def test_a_copied_spec_equals_the_original_spec() -> None:
    with tf.Graph().as_default():
        spec = EstimatorSpec("infer", predictions=tf.constant([1.0]))
        assert described(copy.copy(spec)) == described(spec)
