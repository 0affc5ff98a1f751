"""The short form of `stopped.py`: a worker stops while the sessions of all are created."""

from __future__ import annotations

from pathlib import Path

import pytest
from stopped import TRIALS, outcome


@pytest.mark.long
def test_a_worker_whose_partner_is_stopped_exits_with_a_retryable_code(tmp_path: Path) -> None:
    seen = outcome(TRIALS["the others' sessions"], tmp_path)
    assert seen["code"] == 143, seen
    # Told as the session fails, not once the connection is found broken.
    assert "Of worker:1, one does not answer" in str(seen["line"])
    assert seen["again"] == {"worker:0": 0, "worker:1": 0}
