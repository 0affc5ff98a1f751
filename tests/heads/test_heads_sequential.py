"""SequentialHeadWrapper, against figures and errors of the original.

These tests cover `heads/sequential.py`.
"""

from __future__ import annotations

import ask_heads_sequential
import pytest
import tiers
from alike import assert_alike
from outcomes import outcome, recorded

from estimator_train import heads

GOLDEN = recorded("heads_sequential")
QUESTIONS = ask_heads_sequential.questions(heads, heads.SequentialHeadWrapper)
# Where the original's text does not tell the mistake.
OURS = {"bad: no labels": ["ValueError", "You must provide a labels Tensor. Given: None."]}


@pytest.mark.parametrize(
    "name", tiers.every(4, [name for name in sorted(GOLDEN) if "bad" not in name])
)
def test_figures_equal_the_recorded_ones(name: str) -> None:
    ours = outcome(QUESTIONS[name])
    assert "error" not in ours, ours["text"]
    assert_alike(ours["value"], GOLDEN[name]["value"])


@pytest.mark.parametrize("name", [name for name in sorted(GOLDEN) if "bad" in name])
def test_errors_equal_the_recorded_ones(name: str) -> None:
    kind, text = OURS.get(name, GOLDEN[name]["value"])
    ours = outcome(QUESTIONS[name])["value"]
    assert ours[0] == kind
    assert text in ours[1]
