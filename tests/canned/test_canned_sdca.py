"""Dual coordinate ascent, against figures of the original.

These tests cover `canned/sdca.py`, `canned/sdca_steps.py` and `v1/linear.py`.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

import canned_sdca
import pytest
import tensorflow as tf
import tiers
from outcomes import recorded

import estimator_train as est
from tests.canned.test_canned_figures import V1, V2

LinearSDCA = est.experimental.LinearSDCA
APIS = {"v2": V2, "v1": V1}


@pytest.mark.parametrize(
    ("api", "name"),
    tiers.first({("v1", "regressor")}, itertools.product(APIS, canned_sdca.CASES)),
)
def test_sdca_reaches_the_recorded_solution(api: str, name: str) -> None:
    ours = canned_sdca.observe(APIS[api], *canned_sdca.CASES[name])
    theirs = recorded("canned_sdca")[f"{name} {api}"]
    for figures in ("variables", "predictions", "signatures"):
        assert ours[figures] == theirs[figures]
    for variable, numbers in theirs["weights"].items():
        assert ours["weights"][variable] == pytest.approx(numbers, abs=2e-3), variable
    assert ours["evaluation"] == pytest.approx(theirs["evaluation"], abs=1e-3)
    assert ours["tags"] == pytest.approx(theirs["tags"], abs=5e-3)


@pytest.mark.long
@pytest.mark.parametrize("api", tiers.first({"v2"}, APIS))
def test_steps_in_a_loop_and_partitioned_weights_reach_the_recorded_solution(api: str) -> None:
    halves = {"partitioner": tf.compat.v1.fixed_size_partitioner(2)} if api == "v1" else {}
    estimator = APIS[api].estimator.LinearClassifier(
        canned_sdca.columns(),
        weight_column="weight",
        optimizer=LinearSDCA("id"),
        **halves,
        config=est.RunConfig(steps_per_loop=20),
    )
    estimator.train(canned_sdca.input_fn("class"), steps=canned_sdca.STEPS)
    weights = recorded("canned_sdca")["classifier v2"]["weights"]
    for column in ("x", "age_bucketized_X_job", "job_weighted_by_size"):
        name = f"linear/linear_model/{column}/weights"
        found = estimator.get_variable_value(name).reshape(-1)
        assert found == pytest.approx(weights[name], abs=2e-3)


def test_a_users_model_can_use_an_sdca_step() -> None:
    columns = canned_sdca.columns()[:2]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        data = canned_sdca.input_fn("number")()
        features, labels = tf.compat.v1.data.make_one_shot_iterator(data).get_next()
        variables = {
            column: tf.compat.v1.get_variable(f"weights_{number}", [size, 1])
            for number, (column, size) in enumerate(zip(columns, (2, 3), strict=True))
        }

        class Variables:
            def get_variable(self, column: Any, name: str) -> Any:
                assert name == "weights"
                return variables[column]

        bias = tf.compat.v1.get_variable("bias", [1])
        step = tf.compat.v1.train.get_or_create_global_step()
        train = LinearSDCA("id").get_train_step(
            Variables(), "weight", "squared_loss", columns, features, labels, bias, step
        )
        session.run(tf.compat.v1.global_variables_initializer())
        for _ in range(60):
            session.run(train)
        x, ages, found = session.run([*variables.values(), bias])
        assert session.run(step) == 60
        batch, numbers = session.run([features, labels])
    # The gradient of the whole objective is zero.
    age = (batch["age"][:, None] >= [20, 40]).sum(1)
    error = batch["weight"] * (batch["x"] @ x[:, 0] + ages[age, 0] + found - numbers)
    assert batch["x"].T @ error + x[:, 0] == pytest.approx([0, 0], abs=5e-3)
    assert error.sum() + found[0] == pytest.approx(0, abs=5e-3)


def test_a_v1_estimator_with_a_v2_head_has_the_recorded_variable_names() -> None:
    column = [tf.feature_column.numeric_column("x", shape=2)]
    estimator = est.compat.v1.LinearEstimator(
        est.RegressionHead(), column, optimizer=LinearSDCA("id")
    )
    estimator.train(canned_sdca.input_fn("number"), steps=1)
    names = [name for name in estimator.get_variable_names() if "linear" in name]
    assert names == [
        "linear/linear/linear/linear_model/bias_weights/part_0_unshrunk",
        "linear/linear/linear/linear_model/x/weights/part_0_unshrunk",
        "linear/linear/linear_model/bias_weights",
        "linear/linear/linear_model/x/weights",
    ]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"symmetric_l1_regularization": -1.0}, "l1_regularization should be non-negative"),
        ({"symmetric_l2_regularization": 0.0}, "l2_regularization should be positive"),
        ({"num_loss_partitions": 0}, "num_loss_partitions should be positive. Given: 0"),
        ({"num_table_shards": 0}, "num_table_shards should be positive. Given: 0"),
    ],
)
def test_settings_out_of_range_raise_an_error(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        LinearSDCA("id", **arguments)


@pytest.mark.long
def test_the_least_regularization_fits_the_labels() -> None:
    sdca = LinearSDCA(
        "id", num_loss_partitions=1, num_table_shards=1, symmetric_l2_regularization=1e-9
    )
    estimator = est.LinearRegressor(canned_sdca.columns(), weight_column="weight", optimizer=sdca)
    estimator.train(canned_sdca.input_fn("number"), steps=200)
    found = estimator.evaluate(canned_sdca.input_fn("number"), steps=1)
    # 18 weights fit 16 rows exactly.
    regularized = recorded("canned_sdca")["regressor v2"]["evaluation"]
    assert found["average_loss"] < 1e-3 < regularized["average_loss"]


@pytest.mark.parametrize("api", APIS)
def test_models_that_sdca_cannot_train_raise_an_error_in_the_constructor(api: str) -> None:
    estimators = APIS[api].estimator
    columns, sdca = canned_sdca.columns(), LinearSDCA("id")
    with pytest.raises(ValueError, match="LinearSDCA cannot be used in a multi-class setting"):
        estimators.LinearClassifier(columns, n_classes=3, optimizer=sdca)
    with pytest.raises(ValueError, match="can only be used with one-dimensional label"):
        estimators.LinearRegressor(columns, label_dimension=2, optimizer=sdca)
    with pytest.raises(ValueError, match=re.escape('sparse_combiner must be "sum" when optimizer')):
        estimators.LinearClassifier(columns, sparse_combiner="mean", optimizer=sdca)
    with pytest.raises(ValueError, match="Unsupported head type: "):
        estimators.LinearEstimator(est.MultiLabelHead(3), columns, optimizer=sdca)
    with pytest.raises(ValueError, match="The given object is not a"):
        estimators.DNNClassifier([2], columns[:1], optimizer=sdca).train(
            canned_sdca.input_fn("class"), steps=1
        )
    with pytest.raises(KeyError, match="nope is not among the features"):
        estimators.LinearClassifier(columns, optimizer=LinearSDCA("nope")).train(
            canned_sdca.input_fn("class"), steps=1
        )
