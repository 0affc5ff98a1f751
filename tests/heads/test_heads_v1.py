"""The heads of v1 canned estimators, against figures and errors of the original."""

from __future__ import annotations

from typing import Any

import ask_heads_v1
import pytest
import tensorflow as tf
import tiers
from alike import assert_alike
from outcomes import outcome, recorded

import estimator_train
from estimator_train.estimator import Estimator
from estimator_train.heads import v1

GOLDEN = recorded("heads_v1")
# Where the original says nothing of the mistake.
OURS = {
    "bad: short vocabulary": ["ValueError", '"label_vocabulary" does not have "n_classes" items.'],
}


def with_given_logits(case: ask_heads_v1.Case, directory: str, config: Any) -> Estimator:
    head = _head(**case.arguments) if case.kind == "classifier" else None
    head = head or v1.V1RegressionHead(**case.arguments)

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        scale = tf.compat.v1.get_variable("scale", initializer=1.0)
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.0)
        return head.create_estimator_spec(
            features, mode, features["x"] * scale, labels, optimizer=optimizer
        )

    return Estimator(model_fn, directory, config)


def _head(n_classes: int = 2, **arguments: Any) -> Any:
    if n_classes == 2:
        return v1.V1BinaryClassHead(**arguments)
    return v1.V1MultiClassHead(n_classes, **arguments)


QUESTIONS = ask_heads_v1.questions(
    with_given_logits, estimator_train.export, estimator_train.RunConfig
)


@pytest.mark.parametrize(
    "name", tiers.every(8, [name for name in sorted(GOLDEN) if "figures" in name])
)
def test_figures_equal_the_recorded_ones(name: str) -> None:
    ours = outcome(QUESTIONS[name])
    assert "error" not in ours, ours["text"]
    assert_alike(ours["value"], GOLDEN[name]["value"])


@pytest.mark.parametrize("name", [name for name in sorted(GOLDEN) if "bad" in name])
def test_errors_equal_the_recorded_ones(name: str) -> None:
    kind, text = OURS.get(name, GOLDEN[name]["value"])
    ours = outcome(QUESTIONS[name])["value"]
    assert ours[0] == kind
    # The original forgets spaces between some of its sentences.
    assert text.replace(" ", "") in ours[1].replace(" ", "")


def test_variables_of_optimizers_are_named_after_the_head_and_updates_run() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        step = tf.compat.v1.train.create_global_step()
        with tf.compat.v1.variable_scope("linear"):
            weight = tf.compat.v1.get_variable("weight", initializer=[[2.0]])
            moved = tf.compat.v1.get_variable("moved", initializer=0.0, trainable=False)
            update = tf.compat.v1.assign_add(moved, 1.0)
            tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.UPDATE_OPS, update)
            spec = v1.V1RegressionHead().create_estimator_spec(
                {},
                "train",
                tf.identity(weight),
                tf.constant([1.0]),
                optimizer=tf.compat.v1.train.AdamOptimizer(),
            )
        names = {variable.name for variable in tf.compat.v1.global_variables()}
        assert "linear/head/beta1_power:0" in names
        session.run(tf.compat.v1.global_variables_initializer())
        session.run(spec.train_op)
        assert session.run([step, moved]) == [1, 1.0]
