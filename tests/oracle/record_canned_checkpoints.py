"""Record checkpoints of wide-and-deep models of the original, and how it goes on with them.

Run by hand with TensorFlow 2.15: `python tests/oracle/record_canned_checkpoints.py [DIRECTORY]`.
With a directory that has checkpoints of estimator_train in `v2` and `v1`, the original goes on with
those instead, and prints the losses.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import goldens
from canned_checkpoints import begin, go_on
from jobs import original_apis
from outcomes import GOLDEN

if __name__ == "__main__":
    if sys.argv[1:]:
        for api in original_apis():
            print("LOSSES", api.name, go_on(api, f"{sys.argv[1]}/{api.name}"))
        sys.exit()
    found = {}
    for api in original_apis():
        home = GOLDEN / "checkpoints" / f"canned_{api.name}"
        shutil.rmtree(home, ignore_errors=True)
        with tempfile.TemporaryDirectory() as base:
            begin(api, f"{base}/model")
            shutil.copytree(Path(base, "model"), home)
            shutil.copytree(home, f"{base}/continued")
            found[api.name] = go_on(api, f"{base}/continued")
    goldens.write("canned_continued", found)
