"""Record whole jobs of the original into tests/golden/train_and_evaluate_<subject>.json.

Run by hand with a Python that has TensorFlow 2.15:
`python tests/oracle/record_train_and_evaluate.py [subject ...]`.
"""

from __future__ import annotations

import sys
import time

import all_jobs
import goldens
import job_cases
from jobs import original_apis


def main() -> None:
    """Observe every case of the subjects on the command line, or of all."""
    api = next(original_apis())
    for subject in sys.argv[1:] or all_jobs.CASES:
        golden = {}
        for name, function in all_jobs.CASES[subject].items():
            start = time.time()
            golden[name] = job_cases.observe(function, api)
            print(f"{time.time() - start:5.1f} s {name}", flush=True)
        goldens.write(f"train_and_evaluate_{subject}", golden)


if __name__ == "__main__":
    main()
