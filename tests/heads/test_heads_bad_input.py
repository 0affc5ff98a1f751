"""What heads say of wrong arguments, labels, logits and weights, against the original."""

from __future__ import annotations

import ask_heads_bad_input
import pytest
import tf_keras
import tiers
from outcomes import recorded

from estimator_train import heads

GOLDEN = recorded("heads_bad_input")
QUESTIONS = ask_heads_bad_input.questions(heads, tf_keras.optimizers.legacy)
# Where the original's text does not tell the mistake.
OURS = {
    "multi-label, labels: booleans": [
        "ValueError", "integer indicator Tensor with values in [0, 1]. Instead got <dtype: 'bool'>",
    ]
}  # fmt: skip


@pytest.mark.parametrize("name", tiers.every(6, sorted(GOLDEN)))
def test_answers_equal_the_recorded_ones(name: str) -> None:
    ours = ask_heads_bad_input.answer(QUESTIONS[name])
    theirs = OURS.get(name, GOLDEN[name])
    assert ours[0] == theirs[0], ours
    if theirs[0] != "no error":
        assert theirs[1] in ours[1]
    elif isinstance(theirs[1], str):
        assert ours[1] == theirs[1]
    else:
        assert ours[1] == pytest.approx(theirs[1], rel=1e-4, nan_ok=True)
