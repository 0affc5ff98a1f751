"""Small Keras models give the results of the original."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import tf_keras
import tiers
from jobs import Api
from model_to_estimator_jobs import CASES, OPTIMIZERS, observe_optimizer
from outcomes import recorded

import estimator_train as est

GOLDEN = recorded("model_to_estimator")
API = Api("v2", est, tf_keras, est.keras.model_to_estimator)


@pytest.fixture(autouse=True)
def _names_of_layers_start_anew() -> None:
    tf_keras.backend.clear_session()


def _assert_close(seen: list[float], expected: list[float]) -> None:
    assert len(seen) == len(expected)
    for one, other in zip(seen, expected, strict=True):
        assert math.isclose(one, other, rel_tol=1e-5), (seen, expected)


@pytest.mark.parametrize("name", tiers.every(10, OPTIMIZERS))
def test_optimizers_equal_the_recorded_ones(name: str, tmp_path: Path) -> None:
    seen, expected = observe_optimizer(name, API, str(tmp_path)), GOLDEN[f"optimizer {name}"]
    _assert_close(seen["losses"], expected["losses"])
    assert seen["names"] == expected["names"]


@pytest.mark.parametrize("name", tiers.every(6, CASES))
def test_jobs_equal_the_recorded_ones(name: str, tmp_path: Path) -> None:
    seen: Any = CASES[name].observe(API, str(tmp_path))
    expected = GOLDEN[f"case {name}"]
    assert sorted(seen["result"]) == sorted(expected["result"])
    _assert_close(*([r["result"][key] for key in expected["result"]] for r in (seen, expected)))
    assert seen["names"] == expected["names"]


def test_every_recorded_job_is_run() -> None:
    run = [*(f"optimizer {name}" for name in OPTIMIZERS), *(f"case {name}" for name in CASES)]
    assert sorted(GOLDEN) == sorted(run)
