"""Write checkpoints of estimator_train for `continue_ours.py`.

Run by hand where estimator_train is installed: `python tests/oracle/write_ours.py DIRECTORY`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from continuing import FIRST, JOBS, train

sys.path.insert(0, str(Path(__file__).parents[1] / "conformance"))

from flavours import ours  # noqa: E402  the tests' own name for it


def main() -> None:
    for name, job in JOBS.items():
        train(job, ours()["v2"], Path(sys.argv[1]) / name, FIRST)


if __name__ == "__main__":
    main()
