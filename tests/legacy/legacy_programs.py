"""Command and environment for running old programs in tests."""

import os
import sysconfig
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
# Not `python -m`, which searches the working directory for modules first.
COMMAND = os.path.join(sysconfig.get_path("scripts"), "estimator-train")
SEEDED = ["--seed=1"]


def environment(**variables):
    return {
        **{k: v for k, v in os.environ.items() if k not in ("TF_USE_LEGACY_KERAS", "TF_CONFIG")},
        "TF_CPP_MIN_LOG_LEVEL": "3",
        **{name: str(value) for name, value in variables.items()},
    }
