"""Processes that Open MPI's mpirun starts on this machine."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from processes import run_process

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not shutil.which("mpirun"), reason="needs Debian's package openmpi-bin"),
]
# Each process writes a file: mpirun may mix what its processes print within a line.
PROGRAM = (
    "import json, sys; from estimator_train.cluster import detect; found = detect(); "
    "name = f'{found.task_type} {found.task_id}'; "
    "open(f'{sys.argv[1]}/{name}', 'w').write(json.dumps(found.jobs))"
)


def test_ranks_of_mpirun_are_tasks_of_one_cluster(tmp_path: Path) -> None:
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "3"]
    run_process([*command, sys.executable, "-c", PROGRAM, tmp_path])
    clusters = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert sorted(clusters) == ["chief 0", "worker 0", "worker 1"]
    assert len(set(clusters.values())) == 1
