"""Canned estimators against figures recorded from the original: 20 steps, metrics, exports."""

from __future__ import annotations

import json
from typing import Any

import canned_cases
import canned_cases_v1
import canned_kmeans
import pytest
import tf_keras
import tiers
from canned_figures import observe
from jobs import Api
from outcomes import recorded

import estimator_train
import estimator_train.compat.v1

V2 = Api("v2", estimator_train, tf_keras, estimator_train.keras.model_to_estimator)
V1 = Api("v1", estimator_train.compat.v1, tf_keras, estimator_train.keras.model_to_estimator)
FILES = {
    "canned": (V2, canned_cases.CASES),
    "canned_v1": (V1, canned_cases_v1.CASES),
    "canned_kmeans": (V1, canned_kmeans.CASES),
}
QUESTIONS = [(file, name) for file, (_, cases) in FILES.items() for name in cases]
# Centers that k-means++ chose among directions turn by 2e-5 in 20 steps against the recorded ones;
# the other questions with directions agree to 1e-5. Of mini batches the last loss differs by 2e-5
# without oneDNN, which the recordings had.
LOOSER = {
    "plus plus, cosine": 1e-4,
    "mini batches": 1e-4,
    "function that returns an array": 1e-4,
}


def assert_alike(ours: Any, theirs: Any, where: str = "", rel: float = 1e-5) -> None:
    """Compares nested values, floats with tolerance `rel`; the original does not report a None."""
    if "/fraction_of_zero_weights[" in where and isinstance(theirs, float):
        # Weights are read before or after the step changes them, as chance has it.
        assert 0 <= ours <= 1, f"{where}: {ours}"
        return
    if isinstance(theirs, dict):
        assert sorted(ours) == sorted(theirs), where
        for key in theirs:
            assert_alike(ours[key], theirs[key], f"{where}/{key}", rel)
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), where
        for number, item in enumerate(theirs):
            assert_alike(ours[number], item, f"{where}[{number}]", rel)
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=rel, abs=1e-6), where
    elif theirs is not None:
        assert ours == theirs, where


@pytest.mark.parametrize("file", FILES)
def test_every_recorded_case_is_asked(file: str) -> None:
    assert sorted(FILES[file][1]) == sorted(recorded(file))


@pytest.mark.parametrize(("file", "name"), tiers.every(32, QUESTIONS))
def test_figures_equal_the_recorded_ones(file: str, name: str) -> None:
    api, cases = FILES[file]
    ours = json.loads(json.dumps(observe(cases[name], api)))
    assert_alike(ours, recorded(file)[name], rel=LOOSER.get(name, 1e-5))
