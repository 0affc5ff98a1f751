"""Asks the original about heads: `python tests/oracle/record_heads.py` in its environment."""

from __future__ import annotations

import importlib
from typing import Any

import ask_heads
import ask_heads_bad_input
import ask_heads_replicas
import ask_heads_sequential
import ask_heads_shapes
import ask_heads_v1
import goldens
import numpy as np
import tensorflow as tf
from outcomes import outcomes, record

v1 = tf.compat.v1


def linear(case: ask_heads_v1.Case, directory: str, config: Any) -> Any:
    """A linear model that multiplies x by the identity, and learns at a rate of 0."""
    size = case.logits.shape[1]
    with tf.Graph().as_default(), v1.Session() as session:
        v1.train.create_global_step()
        for name, value in (("x/weights", np.eye(size)), ("bias_weights", np.zeros(size))):
            v1.get_variable(f"linear/linear_model/{name}", initializer=np.float32(value))
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, f"{directory}/model.ckpt", global_step=0)
    kinds = {"classifier": v1.estimator.LinearClassifier, "regressor": v1.estimator.LinearRegressor}
    return kinds[case.kind](
        [tf.feature_column.numeric_column("x", shape=size)],
        model_dir=directory,
        config=config,
        optimizer=v1.train.GradientDescentOptimizer(0.0),
        **case.arguments,
    )


def private(name: str) -> Any:
    """A module of names that scripts use though the original does not publish them."""
    return importlib.import_module(f"tensorflow_estimator.python.estimator.{name}")


if __name__ == "__main__":
    ask_heads_replicas.two_devices()
    optimizers = tf.keras.optimizers.legacy
    record("heads", outcomes(ask_heads.questions(tf.estimator, optimizers)))
    bad_input = ask_heads_bad_input.questions(tf.estimator, optimizers)
    record(
        "heads_bad_input",
        {name: ask_heads_bad_input.answer(call) for name, call in bad_input.items()},
    )
    shapes = ask_heads_shapes.questions(tf.estimator)
    goldens.write(
        "heads_shapes", {name: ask_heads_shapes.answer(call) for name, call in shapes.items()}
    )
    of_v1 = ask_heads_v1.questions(linear, tf.estimator.export, v1.estimator.RunConfig)
    record("heads_v1", outcomes(of_v1))
    wrapper = private("head.sequential_head").SequentialHeadWrapper
    record("heads_sequential", outcomes(ask_heads_sequential.questions(tf.estimator, wrapper)))
    names = {
        "MetricKeys": private("canned.metric_keys").MetricKeys,
        "PredictionKeys": private("canned.prediction_keys").PredictionKeys,
    }
    record(
        "heads_keys",
        {
            name: {key: value for key, value in vars(keys).items() if key.isupper()}
            for name, keys in names.items()
        },
    )
    record("heads_replicas", ask_heads_replicas.answers(tf.estimator, tf.estimator, optimizers))
