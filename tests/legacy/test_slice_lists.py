"""Lists of slices as indices of NumPy arrays, which NumPy took before 1.23."""

from __future__ import annotations

from pathlib import Path

import forked
from processes import run_process

MODULE = """
import numpy as np

def cut(volume):
    where = [slice(1, 3), slice(2, 4)]
    return volume[where]

class Cutter:
    ranges = [slice(0, 1), Ellipsis]

    def clear(self, volume: "np.ndarray[int]") -> "dict[str, int]":
        volume[self.ranges] = 0
        return {"sum": int(volume.sum())}
"""
SCRIPT = """
import numpy as np
import parts
import tensorflow as tf

volume = np.arange(24).reshape(4, 6)
assert parts.cut(volume).tolist() == [[8, 9], [14, 15]]
assert parts.Cutter().clear(volume.copy()) == {"sum": int(volume[1:].sum())}
rows, table = [1, 2], {"a": slice(0, 2)}
assert volume[rows].shape == (2, 6)
assert volume[table["a"]].shape == (2, 6)
assert volume[[slice(0, 1)] + [None]].shape == (1, 1, 6)
print("fine")
"""
# The fork has imported TensorFlow, which chooses its Keras by this variable.
SETTINGS = {"TF_USE_LEGACY_KERAS": "1"}


def test_a_codebase_indexes_arrays_with_lists_of_slices(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text(MODULE)
    (tmp_path / "script.py").write_text(SCRIPT)
    command = forked.python("-m", "estimator_train", "run", tmp_path / "script.py")
    assert "fine" in run_process(command, cwd=tmp_path, **SETTINGS).stdout
    # `python` must not find the changed code.
    assert not [*tmp_path.glob("__pycache__/parts.*")]


def test_tracebacks_show_the_lines_of_the_source(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("where = [slice(1)]\nprint({}[where])\n")
    command = forked.python("-m", "estimator_train", "run", tmp_path / "script.py")
    errors = run_process(command, exit_code=1, cwd=tmp_path, **SETTINGS).stderr
    assert "line 2" in errors
    assert "print({}[where])" in errors
