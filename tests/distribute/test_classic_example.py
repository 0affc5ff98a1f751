"""The classic parameter-server program, as it was and as an Estimator."""

from __future__ import annotations

from pathlib import Path

import forked
import numpy as np
import pytest
import tensorflow as tf
import tiers
from launched import ROOT, launched, numbers_after
from linear_job import TRUE_WEIGHTS

EXAMPLES = ROOT / "examples"


@pytest.mark.long
@pytest.mark.parametrize("name", tiers.first({"linear_tf1"}, ["linear_tf1", "linear_estimator"]))
def test_the_program_learns_the_weights_and_continues_after_a_restart(
    tmp_path: Path, name: str
) -> None:
    program = forked.python(EXAMPLES / f"{name}.py", tmp_path)
    for _ in range(2):
        done = launched(["--workers=1", "--ps=1", "--max_restarts=0", "--grace_secs=5"], program)
        assert done.code == 0, done.text[-3000:]
        weights = numbers_after("weights", done.lines("chief:0"))
        np.testing.assert_allclose(weights, TRUE_WEIGHTS.ravel(), atol=1e-2)
    path = tf.train.latest_checkpoint(str(tmp_path))
    # Both may be in a step when the last one is made.
    assert 400 <= int(path.rpartition("-")[2]) <= 404


def test_the_estimator_program_has_a_third_of_the_lines() -> None:
    lines = {path.stem: len(path.read_text().splitlines()) for path in EXAMPLES.glob("linear_*.py")}
    assert lines["linear_estimator"] <= 0.4 * lines["linear_tf1"]
