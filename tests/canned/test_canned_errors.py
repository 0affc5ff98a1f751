"""Bad input of canned estimators: the original's errors, and clear ones where it had none.

These tests cover `canned/dnn.py` and `canned/linear.py`.
"""

from __future__ import annotations

import re

import ask_canned_errors
import pytest
import tensorflow as tf
import tf_keras
from ask_canned_errors import AGE, JOB, rows
from ask_heads_bad_input import answer
from outcomes import recorded

import estimator_train as est
from estimator_train.compat import v1

V1_ADAM = tf.compat.v1.train.AdamOptimizer
GOLDEN = recorded("canned_errors")
# Where tf.estimator trains nonetheless, dies, or does not tell the mistake.
CLEARER = {
    "a layer of no size": ["ValueError", "hidden_units must be positive. Given: [0]"],
    "a name in place of a column": [
        "ValueError",
        "Items of feature_columns must be a _FeatureColumn. Given (type <class 'str'>): age.",
    ],
    "names without a vocabulary": [
        "ValueError",
        "Labels dtype should be integer. Instead got <dtype: 'string'>.",
    ],
}
APIS = {"v2": est, "v1": v1}


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_mistakes_raise_the_recorded_errors(name: str) -> None:
    mistake = name.partition(" ")[2]
    kind, text = CLEARER.get(mistake, GOLDEN[name])
    found, said = answer(ask_canned_errors.questions(APIS)[name])
    assert found == kind, said
    if found == "no error":
        return
    # Texts of v1 lack a space where lines were joined.
    assert text.replace(" ", "") in said.replace(" ", "")


@pytest.mark.parametrize("name", ask_canned_errors.AT_CONSTRUCTION)
@pytest.mark.parametrize("api", APIS)
def test_mistakes_in_arguments_raise_errors_in_the_constructor(api: str, name: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  its text is compared above
        ask_canned_errors.AT_CONSTRUCTION[name](APIS[api])


def test_estimators_refuse_optimizers_of_the_other_generation() -> None:
    text = "The given object is not a tf.keras.optimizers.Optimizer instance. Given: "
    with pytest.raises(ValueError, match=re.escape(text)):
        est.LinearClassifier([AGE], optimizer=V1_ADAM()).train(rows())
    text = "The given object is not an Optimizer instance. Given: "
    with pytest.raises(ValueError, match=re.escape(text)):
        v1.LinearClassifier([AGE], optimizer=lambda: tf_keras.optimizers.SGD()).train(rows())


def test_v2_estimators_refuse_v1_columns() -> None:
    with tf.Graph().as_default():
        old = tf.compat.v1.feature_column.shared_embedding_columns([JOB], 2)
    with pytest.raises(ValueError, match="Received a feature column from TensorFlow v1, but this"):
        est.DNNClassifier([2], old)


def test_a_baseline_needs_a_feature() -> None:
    estimator = est.BaselineClassifier()
    with pytest.raises(ValueError, match="A baseline needs at least one feature"):
        estimator.train(lambda: ({}, tf.constant([0, 1])), steps=1)
