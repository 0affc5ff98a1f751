"""Losses, weights and metrics of two replicas, against figures of the original."""

from __future__ import annotations

from typing import Any

import forked
import pytest
from launched import ROOT
from outcomes import recorded

RECORDED = recorded("replicas")


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return forked.printed(
        ROOT / "tests" / "oracle" / "replica_jobs.py",
        PYTHONPATH=str(ROOT),
        TMPDIR=str(tmp_path_factory.mktemp("jobs")),
    )


@pytest.mark.long
@pytest.mark.parametrize("name", RECORDED)
def test_replicas_are_combined_as_recorded(ours: dict[str, Any], name: str) -> None:
    theirs = RECORDED[name]
    metrics = dict(theirs["metrics"])
    if name.endswith("keras"):
        # The original shows half of the loss: the mean over replicas of parts of a sum.
        metrics["loss"] *= 2
    assert ours[name]["losses"] == pytest.approx(theirs["losses"], rel=1e-5)
    assert ours[name]["weights"] == pytest.approx(theirs["weights"], rel=1e-5)
    assert ours[name]["metrics"] == pytest.approx(metrics, rel=1e-5)
