"""The lock of a model_dir: the file that marks a training, and its removal."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import threading
from pathlib import Path

import pytest
import tensorflow as tf
import tiers

import estimator_train as est
from estimator_train.engine.checkpoints.model_dir import lock_model_dir
from estimator_train.engine.storage import (
    atomic_write,
    find_files,
    remove_checkpoint,
    replace_file,
)


def test_a_training_marks_its_directory_until_it_ends(tmp_path: Path) -> None:
    config = est.RunConfig(model_dir=str(tmp_path / "model"))
    with lock_model_dir(config):
        assert [path.name for path in (tmp_path / "model").iterdir()] == [".training"]
    assert not list((tmp_path / "model").iterdir())


def test_a_training_in_a_shared_directory_does_not_mark_it(tmp_path: Path) -> None:
    with lock_model_dir(est.RunConfig(model_dir=str(tmp_path), allow_shared_model_dir=True)):
        assert not list(tmp_path.iterdir())


def list_open_files() -> list[str]:
    """Returns the paths of the open files of this process."""
    found = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # Another thread may have closed it.
            found.append(os.readlink(f"/proc/self/fd/{number}"))
    return found


@pytest.mark.parametrize("error", [errno.EWOULDBLOCK, errno.ENOLCK])
def test_a_lock_that_fails_leaves_no_open_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    def fail(file: int, operation: int) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(fcntl, "flock", fail)
    with lock_model_dir(est.RunConfig(model_dir=str(tmp_path))):
        assert not [path for path in list_open_files() if path.startswith(str(tmp_path))]


def model_fn(features: tf.Tensor, mode: str) -> est.EstimatorSpec:
    step = tf.compat.v1.train.get_global_step()
    loss = tf.reduce_mean(features)
    return est.EstimatorSpec(mode, features, loss, tf.compat.v1.assign_add(step, 1))


def numbers() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensors([1.0]).repeat()


def make(model_dir: Path, keep: int | None = 2) -> est.Estimator:
    config = est.RunConfig(save_checkpoints_steps=1, keep_checkpoint_max=keep)
    return est.Estimator(model_fn, model_dir, config=config)


def list_steps(model_dir: Path) -> list[int]:
    return sorted(int(path.stem.partition("-")[2]) for path in model_dir.glob("*.index"))


@pytest.mark.parametrize("name", ["lr=[0.1]", "units=[64, 32]", "a\\b"])
def test_a_directory_from_which_tensorflow_cannot_restore_is_refused(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(ValueError, match=r"model_dir .* contains .*TensorFlow reads as a pattern"):
        make(tmp_path / name).train(numbers, steps=1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", tiers.every(4, ["x[", "[]", "{a,b}", "r?n"]))
def test_other_special_characters_are_no_obstacle(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    for steps in (2, 4):
        make(tmp_path / name).train(numbers, max_steps=steps)
    assert list_steps(tmp_path / name) == [3, 4]
    assert make(tmp_path / name).evaluate(numbers, steps=1)["global_step"] == 4
    assert ("deletes old checkpoints by a pattern" in caplog.text) == ("?" in name)


def test_files_of_directories_that_a_name_matches_are_left_alone(tmp_path: Path) -> None:
    mine, other = tmp_path / "r?n", tmp_path / "run"
    for directory in (mine, other):
        directory.mkdir()
        for step in (1, 10):
            (directory / f"model.ckpt-{step}.index").touch()
            (directory / f"model.ckpt-{step}.data-00000-of-00001").touch()
    remove_checkpoint(str(mine / "model.ckpt-1"))
    assert list_steps(mine) == [10]
    assert list_steps(other) == [1, 10]
    assert len(find_files(str(mine), "/*")) == 2


@pytest.mark.parametrize("by_user", tiers.every(2, [False, True]))
def test_a_restart_that_keeps_fewer_checkpoints_removes_the_others(
    tmp_path: Path, by_user: bool
) -> None:
    make(tmp_path, keep=5).train(numbers, max_steps=8)
    assert list_steps(tmp_path) == [4, 5, 6, 7, 8]
    make(tmp_path, keep=None).train(numbers, max_steps=9)  # None keeps all.
    assert list_steps(tmp_path) == [4, 5, 6, 7, 8, 9]

    def own_saver(features: tf.Tensor, mode: str) -> est.EstimatorSpec:
        spec = model_fn(features, mode)
        saver = tf.compat.v1.train.Saver(max_to_keep=2)
        return spec._replace(scaffold=tf.compat.v1.train.Scaffold(saver=saver))

    for last in (10, 11):
        job = make(tmp_path, keep=2)
        if by_user:
            job = est.Estimator(own_saver, tmp_path, config=job.config.replace())
        job.train(numbers, max_steps=last)
        assert list_steps(tmp_path) == [last - 1, last]
        state = tf.train.get_checkpoint_state(str(tmp_path))
        assert [int(path[-2:].strip("-")) for path in state.all_model_checkpoint_paths] == [
            last - 1,
            last,
        ]


def test_two_trainings_in_threads_may_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "graph.pbtxt"
    with replace_file(str(path)) as unfinished:
        Path(unfinished).write_text("first")
        other = threading.Thread(target=atomic_write, args=(str(path), "second"))
        other.start()
        other.join()
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert [*tmp_path.iterdir()] == [path]
