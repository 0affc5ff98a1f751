"""Packages of the user with the names `flags` and `input_fns` do not conflict with ours."""

import sys
from pathlib import Path
from types import ModuleType

from estimator_train.cli.job.user_code import import_own_package


def test_our_package_is_imported_before_the_users_module(tmp_path, monkeypatch):
    (tmp_path / "flags.py").write_text("raise RuntimeError('the wrong flags')\n")
    monkeypatch.syspath_prepend(tmp_path)
    path = list(sys.path)
    ours = import_own_package("flags")
    assert Path(ours.__file__).parent.name == "flags"
    assert callable(ours.define_base_flags)
    assert sys.path == path


def test_the_users_module_can_be_imported_afterwards(monkeypatch):
    theirs = ModuleType("flags")
    monkeypatch.setitem(sys.modules, "flags", theirs)
    assert import_own_package("flags") is not theirs
    assert sys.modules["flags"] is theirs
    monkeypatch.delitem(sys.modules, "flags")
    import_own_package("flags")
    assert "flags" not in sys.modules
