"""The lock of a model_dir: the file that marks a training, and its removal."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

import estimator_train as est
from estimator_train.engine.checkpoints.model_dir import lock_model_dir


def test_a_training_marks_its_directory_until_it_ends(tmp_path: Path) -> None:
    config = est.RunConfig(model_dir=str(tmp_path / "model"))
    with lock_model_dir(config):
        assert [path.name for path in (tmp_path / "model").iterdir()] == [".training"]
    assert not list((tmp_path / "model").iterdir())


def test_a_training_in_a_shared_directory_does_not_mark_it(tmp_path: Path) -> None:
    with lock_model_dir(est.RunConfig(model_dir=str(tmp_path), allow_shared_model_dir=True)):
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("error", [errno.EWOULDBLOCK, errno.ENOLCK])
def test_a_lock_that_fails_leaves_no_open_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    def fail(file: int, operation: int) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(fcntl, "flock", fail)
    before = os.listdir("/dev/fd")
    with lock_model_dir(est.RunConfig(model_dir=str(tmp_path))):
        assert len(os.listdir("/dev/fd")) == len(before)
