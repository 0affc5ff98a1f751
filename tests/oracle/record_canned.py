"""Record figures of canned estimators from the original into tests/golden/canned*.json.

Run by hand with a Python that has TensorFlow 2.15: `python tests/oracle/record_canned.py [FILE]`.
"""

from __future__ import annotations

import sys

import canned_cases
import canned_cases_v1
import canned_kmeans
import goldens
from canned_figures import observe
from jobs import original_apis

FILES = {
    "canned": ("v2", canned_cases.CASES),
    "canned_v1": ("v1", canned_cases_v1.CASES),
    "canned_kmeans": ("v1", canned_kmeans.CASES),
}

if __name__ == "__main__":
    apis = {api.name: api for api in original_apis()}
    for file in sys.argv[1:] or FILES:
        name, cases = FILES[file]
        goldens.write(file, {case: observe(cases[case], apis[name]) for case in cases})
