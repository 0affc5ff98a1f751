"""Record figures of dual coordinate ascent from the original into tests/golden/canned_sdca.json.

Run by hand with a Python that has TensorFlow 2.15: `python tests/oracle/record_canned_sdca.py`.
"""

from __future__ import annotations

import canned_sdca
import goldens
from jobs import original_apis

if __name__ == "__main__":
    found = {
        f"{name} {api.name}": canned_sdca.observe(api, *canned_sdca.CASES[name])
        for api in original_apis()
        for name in canned_sdca.CASES
    }
    goldens.write("canned_sdca", found)
