"""Evaluation on two replicas counts each batch once, for any number of batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras
import tiers

import estimator_train as est


def model_fn(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
    weight = tf.compat.v1.get_variable("w", [], initializer=tf.compat.v1.ones_initializer())
    loss = tf.reduce_mean(features["x"] * weight)
    metrics = {
        "mean": tf.compat.v1.metrics.mean(features["x"]),
        "auc": tf.compat.v1.metrics.auc(labels, tf.cast(features["x"] > 2, tf.float32)),
    }
    step = tf.compat.v1.train.get_global_step().assign_add(1)
    return est.EstimatorSpec(mode, loss=loss, train_op=step, eval_metric_ops=metrics)


def batches(count: int, kind: str = "static") -> Any:
    """Returns an input_fn of batches of two rows; of a sparse feature too, or of unknown sizes."""

    def make_row(number: tf.Tensor) -> Any:
        x = tf.cast([number, number], tf.float32)
        features = {"x": x}
        if kind == "sparse":
            features["other"] = tf.sparse.from_dense([number])
        return features, tf.cast(x > 3, tf.float32)

    def input_fn() -> tf.data.Dataset:
        dataset = tf.data.Dataset.range(1, count + 1).map(make_row)
        if kind == "unequal":  # The last batch has one row.
            dataset = dataset.unbatch().take(2 * count - 1).batch(2)
        return dataset

    return input_fn


@pytest.fixture(scope="module")
def estimators(tmp_path_factory: Any) -> Any:
    where = tmp_path_factory.mktemp("rounds")
    est.Estimator(model_fn, where).train(batches(1), steps=1)
    strategies = [
        tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]),
        tf.compat.v1.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]),
    ]
    configs = [est.RunConfig(eval_distribute=strategy) for strategy in (None, *strategies)]
    return [est.Estimator(model_fn, where, config) for config in configs]


@pytest.mark.parametrize(
    ("count", "kind"),
    tiers.first(
        {(5, "static"), (3, "unequal")},
        [(1, "static"), (2, "static"), (5, "static"), (3, "sparse"), (3, "unequal")],
    ),
)
def test_two_replicas_report_what_one_device_reports(
    count: int, kind: str, estimators: Any
) -> None:
    one, *others = estimators
    expected = one.evaluate(batches(count, kind))
    assert expected["loss"] == pytest.approx((count + 1) / 2)
    for other in others[: 2 if kind == "static" and count == 5 else 1]:
        assert other.evaluate(batches(count, kind)) == pytest.approx(expected, rel=1e-5)


class CountHook(tf.compat.v1.train.SessionRunHook):
    """Hook that counts rounds."""

    rounds = 0

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.rounds += 1


@pytest.mark.parametrize(
    ("count", "steps", "rounds"),
    tiers.first(
        {(5, None, 3), (4, 3, 2)},
        [(0, None, 0), (1, None, 1), (5, None, 3), (5, 2, 2), (4, 3, 2)],
    ),
)
def test_hooks_see_each_round_once(
    count: int, steps: int | None, rounds: int, estimators: Any, caplog: Any
) -> None:
    hook = CountHook()
    found = estimators[1].evaluate(batches(count), steps=steps, hooks=[hook])
    assert hook.rounds == rounds
    read = min(count, 2 * (steps or count))
    assert found["loss"] == pytest.approx((read + 1) / 2 if read else 0)
    assert ("read no batch" in caplog.text) == (count == 0)


def test_an_error_of_the_input_ends_the_evaluation(estimators: Any) -> None:
    def input_fn() -> tf.data.Dataset:
        def check(features: Any, labels: Any) -> Any:
            return {"x": tf.debugging.check_numerics(features["x"] / 0.0, "row 1")}, labels

        return batches(3)().map(check)

    with pytest.raises(tf.errors.InvalidArgumentError, match="row 1"):
        estimators[1].evaluate(input_fn)


def make_model(package: Any) -> Any:
    inputs = package.Input((1,), name="x")
    ones = package.layers.Dense(1, use_bias=False, kernel_initializer="ones")
    model = package.Model(inputs, ones(inputs))
    model.compile("sgd", "mse", metrics=["mae"])
    return model


def keras_rows(count: int) -> Any:
    def input_fn() -> tf.data.Dataset:
        x = np.arange(1, 2 * count + 1, dtype=np.float32).reshape(-1, 1)
        return tf.data.Dataset.from_tensor_slices(({"x": x}, 0 * x)).batch(2)

    return input_fn


def evaluate_keras(package: Any, model_dir: Path) -> list[dict[str, float]]:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    found = []
    for name, chosen in (("one", None), ("two", strategy)):
        config = est.RunConfig(eval_distribute=chosen)
        estimator = est.keras.model_to_estimator(
            make_model(package), model_dir=str(model_dir / name), config=config
        )
        found.append(estimator.evaluate(keras_rows(3)))
    return found


@pytest.mark.long
def test_a_keras_model_counts_each_batch_once(tmp_path: Path) -> None:
    one, two = evaluate_keras(tf_keras, tmp_path)
    assert two == pytest.approx(one, rel=1e-5)


@pytest.mark.long
def test_a_model_that_combines_replicas_leaves_out_a_round_with_a_warning(
    tmp_path: Path, caplog: Any
) -> None:
    one, two = evaluate_keras(keras, tmp_path)
    assert "leaves out the last 1 of its batches" in caplog.text
    assert one["mae"] == pytest.approx(np.mean(range(1, 7)))
    assert two["mae"] == pytest.approx(np.mean(range(1, 5)))
