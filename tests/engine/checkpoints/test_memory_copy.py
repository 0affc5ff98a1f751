"""The copy of the last checkpoint in shared memory, and when it is used."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tiers

import estimator_train as est
from estimator_train.cluster.launched import (
    CHECKPOINT_FILE_VARIABLE,
    INTERIM_FILE,
    MEMORY_VARIABLE,
)
from estimator_train.engine.checkpoints import integrity, interim_copies, memory_copy

FIRST_WEIGHT = 0.5


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "memory"
    directory.mkdir()
    monkeypatch.setenv(MEMORY_VARIABLE, str(directory))
    return directory


def model_fn(features: Any, mode: str) -> est.EstimatorSpec:
    first = tf.compat.v1.constant_initializer(FIRST_WEIGHT)
    weight = tf.compat.v1.get_variable("weight", [], initializer=first)
    loss = (features * weight - 1.0) ** 2
    train = tf.compat.v1.train
    train_op = train.GradientDescentOptimizer(0.1).minimize(loss, train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make_feature(number: Any) -> Any:
    return tf.cast(number % 8, tf.float32) / 10


def train(
    model_dir: Path, steps: int, hooks: Sequence[Any] = (), save_steps: int = 2, **more: Any
) -> est.Estimator:
    names = {"save_input_position", "checkpoint_mode"} & more.keys()
    settings = {name: more.pop(name) for name in names}
    config = est.RunConfig(str(model_dir), save_checkpoints_steps=save_steps, **settings)
    # Steps differ, so that a position in the input shows.
    data = lambda: tf.data.Dataset.range(5000).map(make_feature).repeat()  # noqa: E731
    return est.Estimator(model_fn, config=config).train(data, hooks, max_steps=steps, **more)


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
    assert len(list(memory.glob("checkpoint-*"))) <= 2
    integrity._known.clear()  # As in another process.
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


def test_a_restarted_job_reports_its_checkpoint_to_the_launcher(
    memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = train(tmp_path / "model", 4).latest_checkpoint()
    reported = tmp_path / "reported"
    reported.touch()
    monkeypatch.setenv(CHECKPOINT_FILE_VARIABLE, str(reported))
    seen: list[str] = []

    class Reader(tf.compat.v1.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            seen.append(reported.read_text())

    train(tmp_path / "model", 5, [Reader()], save_steps=500)
    assert seen == [path]


class _KilledError(tf.errors.CancelledError):
    """Error that ends a training as the kill of another worker does: nothing is saved."""

    def __init__(self) -> None:
        super().__init__(None, None, "killed")


class KillAfterCopy(tf.compat.v1.train.SessionRunHook):
    """Ends the training once a copy of at least a step is in memory."""

    def __init__(self, memory: Path, step: int) -> None:
        self._memory, self._step = memory, step

    def before_run(self, run_context: Any) -> Any:
        return tf.compat.v1.train.SessionRunArgs(tf.compat.v1.train.get_global_step())

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results < self._step:
            return
        copied = copied_step(self._memory)
        if copied is not None and copied >= self._step:
            raise _KilledError
        time.sleep(0.01)  # The next step makes the next copy.


class Notes(tf.compat.v1.train.SessionRunHook):
    """Notes the step and the weight that a session begins with."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        variables = {one.op.name: one for one in tf.compat.v1.global_variables()}
        self.step = int(session.run(variables["global_step"]))
        self.weight = float(session.run(variables["weight"]))


def interim(memory: Path) -> dict[str, Any]:
    path = memory / INTERIM_FILE
    return json.loads(path.read_text()) if path.exists() else {}


def copied_step(memory: Path) -> int | None:
    found = interim(memory)
    if not found:
        return None
    try:
        return int(load(f"{found['folder']}/values", "global_step"))
    except tf.errors.NotFoundError:
        if interim(memory) == found:
            raise
        return copied_step(memory)  # The next copy has replaced it.


def load(path: str, name: str) -> Any:
    return tf.train.load_variable(path, name)


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a copy due as soon as the last is written."""
    monkeypatch.setattr(interim_copies, "_MIN_INTERVAL_SECS", 0.0)
    monkeypatch.setattr(interim_copies, "_MAX_SHARE_OF_TIME", 1e9)


def train_until_killed(model_dir: Path, memory: Path, step: int, **more: Any) -> None:
    with pytest.raises(_KilledError):
        train(model_dir, 990, [KillAfterCopy(memory, step)], **more)


def weight_after(steps: int) -> float:
    """Returns the weight after steps of `model_fn`, in single precision."""
    weight = np.float32(FIRST_WEIGHT)
    for number in range(steps):
        feature = np.float32(number % 8) / np.float32(10)
        weight -= np.float32(0.1) * 2 * feature * (feature * weight - 1)
    return float(weight)


@pytest.mark.parametrize("mode", tiers.every(2, ["async", "sync"]))
def test_a_killed_job_continues_from_a_step_between_two_checkpoints(
    memory: Path, tmp_path: Path, often: None, mode: str
) -> None:
    more = {"save_steps": 500, "checkpoint_mode": mode}
    train_until_killed(tmp_path / "model", memory, 30, **more)
    before = sorted(path.name for path in (tmp_path / "model").glob("model.ckpt*"))
    assert {name.split(".")[1] for name in before} == {"ckpt-0"}
    step = copied_step(memory)
    assert step is not None
    assert step >= 30
    notes = Notes()
    train(tmp_path / "model", step + 7, [notes], **more)
    assert notes.step == step
    assert notes.weight == pytest.approx(weight_after(step), rel=1e-5)
    path = tf.train.latest_checkpoint(str(tmp_path / "model"))
    assert path is not None
    assert load(path, "global_step") == step + 7
    saved = sorted(tmp_path.glob("model/model.ckpt-*.index"))
    assert [one.name for one in saved] == [
        f"model.ckpt-{n}.index" for n in sorted((0, step + 7), key=str)
    ]


def test_a_program_that_catches_an_error_trains_on_from_its_checkpoint(
    memory: Path, tmp_path: Path, often: None
) -> None:
    class FailAfterCopy(KillAfterCopy):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            try:
                super().after_run(run_context, run_values)
            except _KilledError:
                raise est.NanLossDuringTrainingError from None

    with pytest.raises(est.NanLossDuringTrainingError):
        train(tmp_path / "model", 990, [FailAfterCopy(memory, 30)], save_steps=500)
    notes = Notes()
    train(tmp_path / "model", 3, [notes], save_steps=500)
    assert (notes.step, notes.weight) == (0, FIRST_WEIGHT)


def test_a_torn_copy_is_not_used(memory: Path, tmp_path: Path, often: None) -> None:
    train_until_killed(tmp_path / "model", memory, 30, save_steps=500)
    step = copied_step(memory)
    # A task was killed while it wrote the next copy.
    torn = memory / "interim-torn"
    torn.mkdir()
    (torn / "values.data-00000-of-00001").write_bytes(b"1234")
    notes = Notes()
    with pytest.raises(_KilledError):
        train(tmp_path / "model", 990, [notes, KillAfterCopy(memory, 60)], save_steps=500)
    assert notes.step == step
    assert not torn.exists()
    # The files of the copy are incomplete, so that the checkpoint is restored.
    (data,) = Path(interim(memory)["folder"]).glob("values.data-*")
    data.write_bytes(data.read_bytes()[:-4])
    train(tmp_path / "model", 100, [notes], save_steps=500)
    assert notes.step == 0


def test_the_next_checkpoint_is_due_an_interval_after_the_last(
    memory: Path, tmp_path: Path, often: None
) -> None:
    train_until_killed(tmp_path / "model", memory, 30, save_steps=100)
    train(tmp_path / "model", 150, save_steps=100)
    saved = {path.name for path in (tmp_path / "model").glob("*.index")}
    assert saved == {f"model.ckpt-{step}.index" for step in (0, 100, 150)}


def test_a_copy_is_valid_until_the_next_checkpoint(
    memory: Path, tmp_path: Path, often: None
) -> None:
    train_until_killed(tmp_path / "model", memory, 30, save_steps=500)
    path = tf.train.latest_checkpoint(str(tmp_path / "model"))
    assert path is not None
    assert find_interim(path)
    os.utime(f"{path}.index", (1, 1))
    assert find_interim(path) is None
    notes = Notes()
    train(tmp_path / "model", 3, [notes], save_steps=500)
    assert notes.step == 0
    train(tmp_path / "model", 4, [notes], save_steps=500)
    assert notes.step == 3


def find_interim(path: str) -> str | None:
    return memory_copy.find_interim_copy(path, integrity.fingerprint_checkpoint(path))


class Listener(tf.compat.v1.train.CheckpointSaverListener):
    """A listener of the user, which may save the state of its program."""


@pytest.mark.parametrize(
    "more", [{"saving_listeners": [Listener()]}, {"save_input_position": True}]
)
def test_no_steps_are_copied_where_a_restart_needs_more_than_variables(
    memory: Path, tmp_path: Path, often: None, more: dict[str, Any]
) -> None:
    train(tmp_path / "model", 30, save_steps=500, **more)
    assert not interim(memory)


def test_without_room_no_steps_are_copied(
    memory: Path, tmp_path: Path, often: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(tmp_path / "model", 2)
    (memory / INTERIM_FILE).unlink(missing_ok=True)
    usage = shutil.disk_usage(tmp_path)._replace(free=8)
    monkeypatch.setattr(memory_copy.shutil, "disk_usage", lambda _: usage)
    train(tmp_path / "model", 40, save_steps=500)
    assert not interim(memory)


@pytest.mark.long
def test_copies_take_at_most_their_share_of_the_time(
    memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: list[float] = []
    keep = interim_copies.keep_interim_copy

    def keep_slowly(size: int, write: Callable[[str], None]) -> bool:
        times.append(time.monotonic())
        time.sleep(0.03)
        return keep(size, write)

    monkeypatch.setattr(interim_copies, "_MIN_INTERVAL_SECS", 0.01)
    monkeypatch.setattr(interim_copies, "keep_interim_copy", keep_slowly)

    class Slow(tf.compat.v1.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            time.sleep(0.002)
            if len(times) == 3:
                run_context.request_stop()

    train(tmp_path / "model", 10**6, [Slow()], save_steps=10**6)
    first, second, third = times
    assert third - second > 0.03 / 0.015
    assert second - first < third - second
