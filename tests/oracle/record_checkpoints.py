"""Keep checkpoints of the original in tests/golden/checkpoints, with what they go on to.

Run by hand with a Python that has TensorFlow 2.15: `python tests/oracle/record_checkpoints.py`.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import goldens
from continuing import CHECKPOINTS, FIRST, JOBS, MORE, copy_checkpoint, train
from jobs import original_apis


def main() -> None:
    api = next(original_apis())
    shutil.rmtree(CHECKPOINTS, ignore_errors=True)
    golden = {}
    for name, job in JOBS.items():
        with tempfile.TemporaryDirectory() as base:
            unbroken = train(job, api, Path(base) / "unbroken", FIRST + MORE)
            train(job, api, Path(base) / "first", FIRST)
            copy_checkpoint(Path(base) / "first", CHECKPOINTS / name)
        golden[name] = unbroken
    goldens.write("checkpoints", golden)


if __name__ == "__main__":
    main()
