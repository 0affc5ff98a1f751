"""Let the original go on with checkpoints of estimator_train, into tests/golden/continued.json.

Run by hand with a Python that has TensorFlow 2.15, after `write_ours.py` with another:
`python tests/oracle/continue_ours.py DIRECTORY`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import goldens
from continuing import JOBS, MORE, copy_checkpoint, train
from jobs import original_apis


def main() -> None:
    api = next(original_apis())
    golden = {}
    for name, job in JOBS.items():
        with tempfile.TemporaryDirectory() as base:
            copy_checkpoint(Path(sys.argv[1]) / name, Path(base) / name)
            golden[name] = train(job, api, Path(base) / name, MORE)
    goldens.write("continued", golden)


if __name__ == "__main__":
    main()
