"""A model directory of the original goes on here, and one of ours goes on in the original."""

from __future__ import annotations

from pathlib import Path

import pytest
from continuing import CHECKPOINTS, FIRST, JOBS, MORE, copy_checkpoint, train
from our_names import OURS
from outcomes import recorded

UNBROKEN = recorded("checkpoints")
CONTINUED = recorded("continued")


@pytest.mark.parametrize("name", JOBS)
def test_a_checkpoint_of_the_original_goes_on_as_if_unbroken(tmp_path: Path, name: str) -> None:
    copy_checkpoint(CHECKPOINTS / name, tmp_path)
    seen = train(JOBS[name], OURS, tmp_path, MORE)
    assert seen["losses"] == pytest.approx(UNBROKEN[name]["losses"][FIRST:], rel=1e-5)
    assert seen["evaluation"] == pytest.approx(UNBROKEN[name]["evaluation"], rel=1e-5)
    assert seen["variables"] == UNBROKEN[name]["variables"]


@pytest.mark.parametrize("name", JOBS)
def test_ours_still_is_what_the_original_went_on_with(tmp_path: Path, name: str) -> None:
    """With which it came to what an unbroken training of its own comes to."""
    seen, went_on = train(JOBS[name], OURS, tmp_path, FIRST), CONTINUED[name]
    assert seen["variables"] == went_on["variables"]
    assert went_on["losses"] == pytest.approx(UNBROKEN[name]["losses"][FIRST:], rel=1e-5)
    assert went_on["evaluation"] == pytest.approx(UNBROKEN[name]["evaluation"], rel=1e-5)
    assert seen["losses"] == pytest.approx(UNBROKEN[name]["losses"][:FIRST], rel=1e-5)
