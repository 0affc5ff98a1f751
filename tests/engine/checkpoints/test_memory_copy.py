"""The copy of the last checkpoint in shared memory, and when it is used."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.cluster.launched import MEMORY_VARIABLE
from estimator_train.engine.checkpoints import integrity, memory_copy


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "memory"
    directory.mkdir()
    monkeypatch.setenv(MEMORY_VARIABLE, str(directory))
    return directory


def model_fn(features: Any, mode: str) -> est.EstimatorSpec:
    weight = tf.compat.v1.get_variable("weight", [])
    loss = (features * weight - 1.0) ** 2
    train = tf.compat.v1.train
    train_op = train.GradientDescentOptimizer(0.1).minimize(loss, train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


def train(model_dir: Path, steps: int) -> est.Estimator:
    config = est.RunConfig(str(model_dir), save_checkpoints_steps=2)
    data = lambda: tf.data.Dataset.from_tensors(1.0).repeat()  # noqa: E731
    return est.Estimator(model_fn, config=config).train(data, max_steps=steps)


def restored(caplog: pytest.LogCaptureFixture) -> str:
    lines = [line for line in caplog.messages if line.startswith("Restoring parameters from ")]
    return lines[-1].removeprefix("Restoring parameters from ")


def find(path: str) -> str | None:
    return memory_copy.find_copy(path, integrity.fingerprint_checkpoint(path))


def test_the_last_checkpoint_is_restored_from_memory(
    memory: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "tensorflow")
    path = train(tmp_path / "model", 6).latest_checkpoint()
    assert path is not None
    assert len([entry for entry in memory.iterdir() if entry.is_dir()]) <= 2
    integrity._whole.clear()  # As in another process.
    train(tmp_path / "model", 8)
    assert restored(caplog).startswith(str(memory))
    assert restored(caplog).endswith("model.ckpt-6")


def test_a_copy_of_other_files_is_not_used(memory: Path, tmp_path: Path) -> None:
    path = train(tmp_path / "model", 4).latest_checkpoint()
    assert path is not None
    assert find(path)
    data = Path(f"{path}.data-00000-of-00001")
    os.utime(data, (1, 1))
    assert find(path) is None
    assert find(path.replace("-4", "-2")) is None


def test_without_room_or_directory_nothing_is_copied(
    memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=100)
    monkeypatch.setattr(memory_copy.shutil, "disk_usage", lambda _: usage)
    path = train(tmp_path / "model", 2).latest_checkpoint()
    assert path is not None
    assert not list(memory.iterdir())
    monkeypatch.undo()
    monkeypatch.setenv(MEMORY_VARIABLE, str(tmp_path / "gone"))
    train(tmp_path / "model", 4)
    assert find(path) is None


def test_a_restarted_job_does_not_write_the_checkpoint_again(memory: Path, tmp_path: Path) -> None:
    path = train(tmp_path / "model", 4).latest_checkpoint()
    assert path is not None
    before = integrity.fingerprint_checkpoint(path)
    train(tmp_path / "model", 5)
    assert integrity.fingerprint_checkpoint(path) == before
    (memory / "copy.json").unlink()  # A job that starts without a copy writes it, as before.
    path = train(tmp_path / "model", 5).latest_checkpoint()
    assert path is not None
    before = integrity.fingerprint_checkpoint(path)
    train(tmp_path / "model", 6)
    assert integrity.fingerprint_checkpoint(path) != before
