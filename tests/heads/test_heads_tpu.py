"""TPUEstimatorSpecs of heads, against the original.

These tests cover `heads/regression.py`.
"""

from __future__ import annotations

import ask_heads_tpu
import pytest
import tf_keras
import tiers
from outcomes import outcome, recorded

from estimator_train import heads

GOLDEN = recorded("heads_tpu")
QUESTIONS = ask_heads_tpu.questions(heads, heads.SequentialHeadWrapper, tf_keras.optimizers.legacy)


@pytest.mark.parametrize("name", tiers.every(4, sorted(GOLDEN)))
def test_answers_equal_the_recorded_ones(name: str) -> None:
    ours, theirs = outcome(QUESTIONS[name]), GOLDEN[name]
    assert ours.get("error") == theirs.get("error"), ours.get("text")
    if "error" in theirs:
        assert theirs["text"] in ours["text"]
        return
    ours, theirs = ours["value"], theirs["value"]
    if isinstance(theirs, dict):
        for key in {"loss", "metrics"} & theirs.keys():
            assert ours.pop(key) == pytest.approx(theirs.pop(key), abs=2e-4)
    assert ours == theirs
