"""What the optimizers of canned estimators are in a graph."""

from pathlib import Path

import pytest
import tensorflow as tf
import tf_keras

import estimator_train as est
from estimator_train.canned.arguments import KerasChoice


def test_a_scheduled_rate_is_created_after_the_global_steps_value():
    def make():
        schedule = tf_keras.optimizers.schedules.ExponentialDecay(0.1, 100, 0.96)
        return tf_keras.optimizers.Ftrl(schedule)

    with tf.Graph().as_default():
        steps = KerasChoice(make, 0.1).make().iterations
        before = [
            operation.control_inputs
            for operation in steps.handle.consumers()
            if operation.name.startswith("ExponentialDecay") and operation.inputs[0] is steps.handle
        ]
        assert before == [[steps.initializer]]
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            session.run(steps.assign(7))
            assert session.run(steps) == 7  # Reading it resets nothing.


@pytest.mark.parametrize("name", ["AdamW", "Lion"])
def test_a_new_optimizer_with_a_schedule_trains_as_a_function_that_makes_it(
    tmp_path: Path, name: str
) -> None:
    def make():
        schedule = tf_keras.optimizers.schedules.ExponentialDecay(0.5, 2, 0.5)
        return getattr(tf_keras.optimizers, name)(schedule)

    def input_fn():
        return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[3.0]])).repeat()

    weights = []
    for folder, optimizer in (("function", make), ("instance", make())):
        columns = [tf.feature_column.numeric_column("x")]
        estimator = est.LinearRegressor(columns, tmp_path / folder, optimizer=optimizer)
        for _ in range(2):
            estimator.train(input_fn, steps=3)
        weights.append(estimator.get_variable_value("linear/linear_model/x/weights").item())
    assert weights[0] == pytest.approx(weights[1], rel=1e-5)


@pytest.mark.parametrize("name", ["Adam", "SGD", "Ftrl"])
def test_a_new_optimizer_with_a_schedule_trains_as_its_legacy_form(
    tmp_path: Path, name: str
) -> None:
    def input_fn():
        return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[3.0]])).repeat()

    weights = []
    for module in (tf_keras.optimizers, tf_keras.optimizers.legacy):
        schedule = tf_keras.optimizers.schedules.ExponentialDecay(0.05, 2, 0.5)
        columns = [tf.feature_column.numeric_column("x")]
        optimizer = getattr(module, name)(schedule)
        estimator = est.LinearRegressor(
            columns, tmp_path / module.__name__, optimizer=optimizer
        ).train(input_fn, steps=3)
        weights.append(estimator.get_variable_value("linear/linear_model/x/weights").item())
    assert weights[0] == pytest.approx(weights[1], rel=1e-5)
