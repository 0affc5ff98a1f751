"""Small Keras models give the results of the original.

These tests cover `tf_keras/losses_and_metrics.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tf_keras
import tiers
from alike import assert_alike
from jobs import Api
from model_to_estimator_jobs import CASES, OPTIMIZERS, observe_optimizer
from outcomes import recorded

import estimator_train as est

GOLDEN = recorded("model_to_estimator")
API = Api("v2", est, tf_keras, est.keras.model_to_estimator)


@pytest.fixture(autouse=True)
def _names_of_layers_start_anew() -> None:
    tf_keras.backend.clear_session()


@pytest.mark.parametrize("name", tiers.every(20, OPTIMIZERS))
def test_optimizers_equal_the_recorded_ones(name: str, tmp_path: Path) -> None:
    seen, expected = observe_optimizer(name, API, str(tmp_path)), GOLDEN[f"optimizer {name}"]
    assert_alike(seen["losses"], expected["losses"], abs=0)
    assert seen["names"] == expected["names"]


@pytest.mark.parametrize("name", tiers.every(18, CASES))
def test_jobs_equal_the_recorded_ones(name: str, tmp_path: Path) -> None:
    seen: Any = CASES[name].observe(API, str(tmp_path))
    expected = GOLDEN[f"case {name}"]
    assert_alike(seen["result"], expected["result"], abs=0)
    assert seen["names"] == expected["names"]
