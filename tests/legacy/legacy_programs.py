"""How the tests of old programs start one."""

import os
import sys
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
COMMAND = [sys.executable, "-m", "estimator_train.cli", "run"]


def environment(**variables):
    return {
        **{k: v for k, v in os.environ.items() if k not in ("TF_USE_LEGACY_KERAS", "TF_CONFIG")},
        "TF_CPP_MIN_LOG_LEVEL": "3",
        **{name: str(value) for name, value in variables.items()},
    }
