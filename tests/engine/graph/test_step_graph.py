"""Errors of a model_fn whose input_fn returns None."""

from pathlib import Path
from typing import Any

import pytest

import estimator_train as est


@pytest.mark.parametrize(
    "error", [ValueError("rate must be positive"), TypeError("bad"), OSError()]
)
def test_an_error_of_a_model_fn_without_features_is_not_changed(
    tmp_path: Path, error: Exception
) -> None:
    def model_fn(features: Any, mode: str) -> est.EstimatorSpec:
        raise error

    with pytest.raises(type(error)) as raised:
        est.Estimator(model_fn, tmp_path).train(lambda: None)
    assert raised.value is error


def test_a_model_fn_that_uses_none_as_features_names_the_input_fn(tmp_path: Path) -> None:
    def model_fn(features: Any, mode: str) -> est.EstimatorSpec:
        return features["x"]

    with pytest.raises(ValueError, match="input_fn returned None, and model_fn needs") as raised:
        est.Estimator(model_fn, tmp_path).train(lambda: None)
    assert isinstance(raised.value.__cause__, TypeError)
