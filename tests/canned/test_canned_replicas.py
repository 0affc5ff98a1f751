"""Canned estimators under strategies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import canned_data
import pytest
import tensorflow as tf
import tf_keras

import estimator_train as est
from estimator_train.compat import v1

DEVICES = ["/cpu:0", "/cpu:1"]
APIS = {"v2": est, "v1": v1}


def mirrored() -> Any:
    reduction = tf.distribute.ReductionToOneDevice()  # replicas have rows of different embeddings
    return tf.distribute.MirroredStrategy(DEVICES, cross_device_ops=reduction)


def central() -> Any:
    kind = tf.compat.v1.distribute.experimental.CentralStorageStrategy
    return kind(DEVICES, "/cpu:0")


def train_and_evaluate(
    api: Any, strategy: Any, model_dir: Path, **arguments: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Trains three steps; returns the evaluation by replicas and that by one device."""

    def make(strategy: Any) -> Any:
        config = est.RunConfig(
            train_distribute=strategy, eval_distribute=strategy, tf_random_seed=1
        )
        return api.DNNLinearCombinedClassifier(
            model_dir=str(model_dir),
            linear_feature_columns=canned_data.wide(),
            dnn_feature_columns=canned_data.deep(),
            dnn_hidden_units=[4],
            batch_norm=True,
            config=config,
            **arguments,
        )

    estimator = make(strategy)
    estimator.train(canned_data.input_fn("label"), steps=3)
    rows = canned_data.input_fn("label", 32, 2, repeat=False)  # two batches
    return estimator.evaluate(rows), make(None).evaluate(rows)


@pytest.mark.long
def test_mirrored_replicas_train_together(tmp_path: Path) -> None:
    config = est.RunConfig(train_distribute=mirrored(), eval_distribute=mirrored())
    estimator = est.DNNClassifier([4], canned_data.simple(), tmp_path, config=config)
    estimator.train(canned_data.input_fn("label"), steps=3)
    result = estimator.evaluate(canned_data.input_fn("label", 32, 2, repeat=False))
    assert result["global_step"] == 3
    alone = est.DNNClassifier([4], canned_data.simple(), tmp_path)
    found = alone.evaluate(canned_data.input_fn("label", 32, 2, repeat=False))
    assert result == pytest.approx(found, rel=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("name", APIS)
def test_mirrored_replicas_of_models_with_all_columns_train_together(
    name: str, tmp_path: Path
) -> None:
    together, alone = train_and_evaluate(APIS[name], mirrored(), tmp_path)
    assert together["global_step"] == 3
    assert together == pytest.approx(alone, rel=1e-5)


@pytest.mark.long
def test_v1_models_train_with_central_storage(tmp_path: Path) -> None:
    together, alone = train_and_evaluate(v1, central(), tmp_path)
    assert together["global_step"] == 3
    assert together == pytest.approx(alone, rel=1e-5)


@pytest.mark.long
def test_v2_models_train_and_are_evaluated_with_central_storage(tmp_path: Path) -> None:
    def evaluated(strategy: Any) -> Any:
        config = est.RunConfig(train_distribute=strategy, eval_distribute=strategy)
        columns = canned_data.simple()
        estimator = est.DNNClassifier([4], columns, tmp_path, batch_norm=True, config=config)
        if strategy:
            estimator.train(canned_data.input_fn("label"), steps=3)
        return estimator.evaluate(canned_data.input_fn("label", 32, 2, repeat=False))

    together = evaluated(central())
    assert together["global_step"] == 3
    assert together == pytest.approx(evaluated(None), rel=1e-5)


@pytest.mark.long
def test_two_new_optimizers_count_a_step_once(tmp_path: Path) -> None:
    result, _ = train_and_evaluate(
        est,
        None,
        tmp_path,
        linear_optimizer=tf_keras.optimizers.AdamW(0.01),
        dnn_optimizer=lambda: tf_keras.optimizers.Adam(0.01),
    )
    assert result["global_step"] == 3


def test_boosted_trees_are_not_trained_by_replicas(tmp_path: Path) -> None:
    age = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("age"), [40.0])
    config = est.RunConfig(train_distribute=mirrored())
    estimator = est.BoostedTreesClassifier([age], 1, config=config)
    with pytest.raises(ValueError, match="Boosted trees cannot train several replicas together"):
        estimator.train(canned_data.input_fn("label"), steps=1)
