"""Lists of files that questions about exports and model directories answer with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def list_files(directory: Any) -> list[str]:
    """Returns the sorted names of the files below a directory, relative to it.

    `fingerprint.pb` is left out: of the two, only estimator_train writes it into an export, and
    tests/export/test_saved_model.py has its own test of it.
    """
    root = Path(os.fsdecode(directory))
    files = (path for path in root.rglob("*") if path.is_file())
    return sorted(str(path.relative_to(root)) for path in files if path.name != "fingerprint.pb")
