"""Record figures of canned estimators from the original into tests/golden/canned*.json.

Run by hand with a Python that has TensorFlow 2.15: `python tests/oracle/record_canned.py`.
"""

from __future__ import annotations

import sys

import canned_cases
import canned_cases_v1
import goldens
from canned_figures import observe
from jobs import original_apis

FILES = {"canned": canned_cases.CASES, "canned_v1": canned_cases_v1.CASES}

if __name__ == "__main__":
    for api, (name, cases) in zip(original_apis(), FILES.items(), strict=True):
        if sys.argv[1:] in ([], [name]):
            goldens.write(name, {case: observe(cases[case], api) for case in cases})
