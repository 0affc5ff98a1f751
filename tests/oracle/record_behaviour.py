"""Record errors, messages and results of the original into tests/golden/behaviour.json.

Run by hand with a Python that has TensorFlow 2.15: `python tests/oracle/record_behaviour.py`.
A case whose two flavours behave alike is kept once, under "both".
"""

from __future__ import annotations

import sys
import time

import all_cases
import goldens
from jobs import original_apis
from outcomes import recorded


def main() -> None:
    """Observe every case (or those named on the command line) in both flavours."""
    names = sys.argv[1:] or list(all_cases.CASES)
    golden = recorded("behaviour") if sys.argv[1:] else {}
    for name in names:
        start = time.time()
        seen = {api.name: all_cases.observe(all_cases.CASES[name], api) for api in original_apis()}
        golden[name] = {"both": seen["v2"]} if seen["v1"] == seen["v2"] else seen
        print(f"{time.time() - start:5.1f} s {name}")
    goldens.write("behaviour", golden)


if __name__ == "__main__":
    main()
