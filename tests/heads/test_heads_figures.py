"""Figures of heads against those recorded from the original.

These tests cover `heads/class_heads.py`.
"""

from __future__ import annotations

import ask_heads
import pytest
import tf_keras
import tiers
from alike import assert_alike
from outcomes import outcome, recorded

from estimator_train import heads

GOLDEN = recorded("heads")
QUESTIONS = ask_heads.questions(heads, tf_keras.optimizers.legacy, tf_keras.optimizers.Optimizer)


@pytest.mark.parametrize("name", tiers.every(20, sorted(GOLDEN), of=3))
def test_answers_equal_the_recorded_ones(name: str) -> None:
    ours = outcome(QUESTIONS[name])
    assert "error" not in ours, ours["text"]
    if name.startswith("signatures of") and name != "signatures of Head":
        # The concrete heads of the original reject the argument of the abstract method.
        assert ours["value"]["update_metrics"].pop() == "mode=None"
    assert_alike(ours["value"], GOLDEN[name]["value"])
