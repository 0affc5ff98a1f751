"""Writes checkpoints of estimator_train for tf.estimator to go on with: `write_ours.py DIRECTORY`.

Run by `record.py`, where estimator_train is installed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import canned_checkpoints
import continuing

sys.path.insert(0, str(Path(__file__).parents[1] / "conformance"))

from flavours import ours  # noqa: E402  the name that the tests use

if __name__ == "__main__":
    apis, directory = ours(), Path(sys.argv[1])
    for name, job in continuing.JOBS.items():
        continuing.train(job, apis["v2"], directory / name, continuing.FIRST)
    for api, name in canned_checkpoints.MODELS:
        home = directory / canned_checkpoints.home_of(api, name)
        canned_checkpoints.begin(apis[api], name, str(home))
