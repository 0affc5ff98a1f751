"""Record checkpoints of canned models of the original, and how it goes on with them.

Run by hand with TensorFlow 2.15: `python tests/oracle/record_canned_checkpoints.py [DIRECTORY]`.
With the directory of `write_canned_ours.py`, the original goes on with the checkpoints of
estimator_train instead.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import goldens
from canned_checkpoints import CHECKPOINTS, MODELS, begin, go_on, home_of
from jobs import Api, original_apis


def write(apis: dict[str, Api]) -> None:
    for api, name in MODELS:
        target = CHECKPOINTS / home_of(api, name)
        shutil.rmtree(target, ignore_errors=True)
        with tempfile.TemporaryDirectory() as base:
            begin(apis[api], name, f"{base}/model")
            shutil.copytree(f"{base}/model", target)


def continued(apis: dict[str, Api], directory: Path) -> dict[str, list[float]]:
    found = {}
    for api, name in MODELS:
        home = home_of(api, name)
        with tempfile.TemporaryDirectory() as base:
            shutil.copytree(directory / home, f"{base}/model")
            found[home] = go_on(apis[api], name, f"{base}/model")
    return found


if __name__ == "__main__":
    apis = {api.name: api for api in original_apis()}
    if sys.argv[1:]:
        goldens.write("canned_continued_ours", continued(apis, Path(sys.argv[1])))
    else:
        write(apis)
        goldens.write("canned_continued", continued(apis, CHECKPOINTS))
