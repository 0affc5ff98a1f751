"""Ours and the user's packages of the same name do not get into each other's way."""

import sys
from pathlib import Path
from types import ModuleType

from estimator_train.cli.job.own_packages import import_own


def test_ours_is_imported_although_theirs_comes_first(tmp_path, monkeypatch):
    (tmp_path / "flags.py").write_text("raise RuntimeError('the wrong flags')\n")
    monkeypatch.syspath_prepend(tmp_path)
    path = list(sys.path)
    ours = import_own("flags")
    assert Path(ours.__file__).parent.name == "flags"
    assert callable(ours.define_base_flags)
    assert sys.path == path


def test_theirs_keeps_its_name(monkeypatch):
    theirs = ModuleType("flags")
    monkeypatch.setitem(sys.modules, "flags", theirs)
    assert import_own("flags") is not theirs
    assert sys.modules["flags"] is theirs
    monkeypatch.delitem(sys.modules, "flags")
    import_own("flags")
    assert "flags" not in sys.modules
