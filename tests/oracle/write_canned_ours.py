"""Write checkpoints of estimator_train's canned models for `record_canned_checkpoints.py`.

Run by hand where estimator_train is installed:
`python tests/oracle/write_canned_ours.py DIRECTORY`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from canned_checkpoints import MODELS, begin, home_of

sys.path.insert(0, str(Path(__file__).parents[1] / "conformance"))

from flavours import ours  # noqa: E402  the tests' own name for it

if __name__ == "__main__":
    apis = ours()
    for api, name in MODELS:
        begin(apis[api], name, f"{sys.argv[1]}/{home_of(api, name)}")
