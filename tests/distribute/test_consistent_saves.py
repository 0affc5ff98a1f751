"""Checkpoints from parameter servers hold all variables at the end of the same steps."""

from __future__ import annotations

from pathlib import Path

import pytest
from launched import launched, numbers_after, python


@pytest.mark.long
def test_no_checkpoint_holds_a_partial_step(tmp_path: Path) -> None:
    program = python("consistent_job.py", tmp_path, 1000, 20)
    done = launched(["--workers=2", "--ps=2"], program)
    assert done.code == 0, done.text
    written, torn = numbers_after("checkpoints", done.lines("chief:0"))
    assert written >= 30
    assert torn == 0
