"""The short form of `soak.py`."""

from __future__ import annotations

import json
from pathlib import Path

import forked
import pytest
import soak
from processes import run_process


@pytest.mark.long
def test_a_long_training_needs_constant_memory(tmp_path: Path) -> None:
    done = run_process(
        forked.python(soak.__file__, tmp_path, 4000),
        PYTHONPATH=str(Path(soak.__file__).parents[2]),
        TF_CPP_MIN_LOG_LEVEL="3",
    )
    samples = json.loads(done.stdout)
    first, last = samples[soak.SAMPLES // 10], samples[-1]
    assert last["step"] == 4000
    # A file or a thread more or less may be in use at the moment of a sample.
    quarter = soak.SAMPLES // 4
    for held in ("open_files", "threads"):
        counts = [sample[held] for sample in samples]
        assert min(counts[-quarter:]) <= max(counts[:quarter]), (held, counts)
    assert last["memory_mb"] < first["memory_mb"] + 50
    grown = [
        b["event_bytes"] - a["event_bytes"] for a, b in zip(samples, samples[1:], strict=False)
    ]
    assert max(grown[1:]) < 2 * min(grown[1:])
