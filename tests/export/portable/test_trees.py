"""Boosted trees on every kind of columns: one operation of ONNX, and lookups for other runtimes.

`test_families.py` computes all rows of their training; these tests cover the operations, and the
numbers at which a split decides.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import portable_models
import pytest
import tensorflow as tf
from tiers import of_commit

import estimator_train as est

make_features = portable_models.make_tree_features


@pytest.fixture(scope="module")
def regressor(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Callable[[], Any]]:
    return portable_models.make_trees(tmp_path_factory.mktemp("model"), None)


def make_limits(estimator: Any) -> dict[str, np.ndarray]:
    """Returns rows of NaN, infinities, and each number at which the trees split."""
    limits = estimator.get_variable_value("boosted_trees/quantiles/bucket_boundaries")
    numbers = np.stack([*limits.T, np.full(len(limits), np.nan), np.full(len(limits), -np.inf)])
    assert np.isinf(numbers).any()
    features = {name: value[: len(numbers)] for name, value in make_features().items()}
    ages = np.float32([20, 30, 40, 50, 60, np.nan, np.inf, 19.999998])
    return {
        **features,
        "hours": numbers[:, :2],
        "rate": numbers[:, 2],
        "age": np.resize(ages, len(numbers)),
    }


@pytest.mark.long
@pytest.mark.parametrize("to", of_commit(3, ["onnx", "openvino", "tflite"]))
def test_numbers_that_equal_a_threshold_and_nan_are_split(
    to: str, regressor: Any, tmp_path: Path
) -> None:
    estimator, _ = regressor
    rows = make_limits(estimator)

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices(rows).batch(len(rows["age"]))

    result = est.export.convert(estimator, tmp_path / "out", input_fn, to=to, rows=1000)
    assert result.rows == len(rows["age"]) > 20
    assert result.differences["predictions"] <= 1e-5


@pytest.mark.long
def test_trees_are_one_operation_of_onnx(regressor: Any, tmp_path: Path) -> None:
    estimator, input_fn = regressor
    est.export.convert(estimator, tmp_path / "out", input_fn, to="onnx", rows=10)
    # Not above: the first tier collects this file too, and is installed without ONNX.
    import onnx

    graph = onnx.load(str(tmp_path / "out" / "model.onnx")).graph
    assert {value.name for value in graph.input} == {*make_features(), "job_X_school"}
    operations = [node.op_type for node in graph.node]
    assert operations.count("TreeEnsembleRegressor") == 1
    assert "Loop" not in operations
    (node,) = (node for node in graph.node if node.op_type == "TreeEnsembleRegressor")
    (features,) = (each.ints for each in node.attribute if each.name == "nodes_featureids")
    # The trees split on kinds of columns in the order of their names: age, hours (1, 2), job, the
    # cross (4 to 14), rate, schools (16 to 18) and zip.
    assert {0, 1, 2, 3, 15, 18, 19} <= set(features)
