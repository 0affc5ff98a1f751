"""Shapes of labels, logits, weights and losses, known to the graph or not, against the original."""

from __future__ import annotations

import re
from typing import Any

import ask_heads_shapes
import pytest
import tensorflow as tf
from outcomes import recorded

from estimator_train import heads

GOLDEN = recorded("heads_shapes")
QUESTIONS = ask_heads_shapes.questions(heads)
# Losses of shape (2,) where (2, 2) is expected: the original broadcasts the shapes it compares.
BROADCAST = [f"regression of two: losses (2,), known: {known}" for known in ("all", "nothing")]
KINDS = sorted({name.split(":")[0] for name in QUESTIONS})


@pytest.mark.parametrize("name", BROADCAST)
def test_shapes_that_only_broadcasting_accepts_are_rejected(name: str) -> None:
    assert GOLDEN[name] == 0.625
    wrong = pytest.raises(tf.errors.InvalidArgumentError, match=r"\[loss_shape: \] \[2\]")
    with tf.Graph().as_default(), wrong:
        QUESTIONS[name]()


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_shapes_have_the_recorded_outcome(kind: str) -> None:
    asked = [name for name in set(QUESTIONS).difference(BROADCAST) if name.startswith(f"{kind}:")]
    ours = {name: ask_heads_shapes.answer(QUESTIONS[name]) for name in asked}
    different = {
        name: (ours[name], GOLDEN[name]) for name in asked if not _alike(ours[name], GOLDEN[name])
    }
    assert not different


def _alike(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) or isinstance(theirs, float):
        return ours == pytest.approx(theirs, rel=1e-5)
    kinds = (
        {ours[0], "InvalidArgumentError", "ValueError"} if ours[0] == "WrongShapeError" else ours
    )
    return theirs[0] in kinds and _without_names(theirs[1]) in _without_names(ours[1])


def _without_names(text: str) -> str:
    """Returns an assertion's text without the names of tensors."""
    return re.sub(r"Tensor \S+:0|x \(\S+\)", "Tensor", text)
