"""Figures of heads against those recorded from the original."""

from __future__ import annotations

from typing import Any

import ask_heads
import pytest
import tf_keras
import tiers
from outcomes import outcome, recorded

from estimator_train import heads

GOLDEN = recorded("heads")
QUESTIONS = ask_heads.questions(heads, tf_keras.optimizers.legacy, tf_keras.optimizers.Optimizer)


def assert_alike(ours: Any, theirs: Any, where: str = "") -> None:
    """Compares nested values, floats with tolerance 1e-5."""
    if isinstance(theirs, dict):
        assert sorted(ours) == sorted(theirs), where
        for key in theirs:
            assert_alike(ours[key], theirs[key], f"{where}/{key}")
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), where
        for number, item in enumerate(theirs):
            assert_alike(ours[number], item, f"{where}[{number}]")
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-7), where
    else:
        assert ours == theirs, where


def test_every_recorded_question_is_asked() -> None:
    assert sorted(QUESTIONS) == sorted(GOLDEN)


@pytest.mark.parametrize("name", tiers.every(8, sorted(GOLDEN)))
def test_answers_equal_the_recorded_ones(name: str) -> None:
    ours = outcome(QUESTIONS[name])
    assert "error" not in ours, ours["text"]
    if name.startswith("signatures of") and name != "signatures of Head":
        # The concrete heads of the original reject the argument of the abstract method.
        assert ours["value"]["update_metrics"].pop() == "mode=None"
    assert_alike(ours["value"], GOLDEN[name]["value"])
