"""Shared by the recording scripts of figures: runs jobs in every flavour of the original."""

from __future__ import annotations

import sys
import tempfile
import time
from typing import Any

import goldens
from figures import Job, observe
from jobs import original_apis
from outcomes import recorded


def record(jobs: dict[str, Job], name: str) -> None:
    """Observe the jobs (or those named on the command line) into tests/golden/`name`.json."""
    golden: dict[str, Any] = recorded(name) if sys.argv[1:] else {}
    for job in sys.argv[1:] or jobs:
        for api in (api for api in original_apis() if api.name in jobs[job].flavours):
            start = time.time()
            with tempfile.TemporaryDirectory() as base:
                golden[f"{job} {api.name}"] = observe(jobs[job], api, base)
            print(f"{time.time() - start:5.1f} s {job} {api.name}")
    goldens.write(name, golden)
