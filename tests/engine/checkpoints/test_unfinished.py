"""Temporary files that killed processes left of checkpoints."""

import os
import signal
import time
from pathlib import Path

import forked
import numpy as np
import pytest
import tensorflow as tf
from processes import run_process

import estimator_train as est
from estimator_train import remote
from estimator_train.engine.checkpoints.model_dir import remove_leftovers

gfile = tf.io.gfile
KILLED_JOB = Path(__file__).with_name("killed_job.py")
LEFT = (
    "model.ckpt-5.data-00000-of-00001.tempstate123",
    "model.ckpt-5.index.tempstate45",
    "model.ckpt-7_temp/part-00000-of-00002.data-00000-of-00001",
    "model.ckpt-7_temp/part-00001-of-00002.data-00000-of-00001.tempstate6",
    "model.ckpt-8.part-00000-of-00001.data-00000-of-00001",
)
KEPT = (
    "checkpoint",
    "model.ckpt-5.data-00000-of-00001",
    "model.ckpt-5.index",
    "model.ckpt-5.meta",
    "model.ckpt-6.data-00000-of-00001",
    "model.ckpt-x.index.tempstate45",
    "my_model.ckpt-5.index.tempstate45",
    "other.ckpt-5.index.tempstate45",
    "best/model.ckpt-5.index.tempstate45",
)


@pytest.fixture(params=["disk", "memory"])
def root(request, tmp_path):
    if request.param == "disk":
        return str(tmp_path)
    remote.register("memory")
    return f"memory:/{tmp_path}"


def write(path, content=b"12"):
    gfile.makedirs(os.path.dirname(path))
    with gfile.GFile(f"{path}.written", "wb") as file:
        file.write(content)
    gfile.rename(f"{path}.written", path, overwrite=True)  # The store has it at once.


def list_files(root):
    return {
        os.path.join(folder, name)[len(root) + 1 :]
        for folder, _, names in gfile.walk(root)
        for name in names
    }


class Clock:
    """A clock that a test moves."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_leftovers_are_removed_ten_minutes_after_they_were_found(root, caplog):
    for name in (*LEFT, *KEPT):
        write(f"{root}/{name}")
    clock = Clock()
    for clock.now in (0.0, 1.0, 599.0):
        remove_leftovers(f"{root}/model.ckpt", clock)
        assert list_files(root) == {*LEFT, *KEPT}
    later = "model.ckpt-9.index.tempstate1"  # It is not of a process that was killed before.
    write(f"{root}/{later}")
    clock.now = 600.0
    with caplog.at_level("INFO"):
        remove_leftovers(f"{root}/model.ckpt", clock)
    assert list_files(root) == {later, *KEPT}
    assert not gfile.exists(f"{root}/model.ckpt-7_temp")
    assert f"Removed 5 files (10 bytes) in {root}, which" in caplog.text
    clock.now = 2000.0
    remove_leftovers(f"{root}/model.ckpt", clock)
    assert list_files(root) == {later, *KEPT}


def test_a_file_that_has_changed_stays(root):
    for name in LEFT:
        write(f"{root}/{name}")
    clock = Clock()
    remove_leftovers(f"{root}/model.ckpt", clock)
    write(f"{root}/{LEFT[0]}", b"123")  # Another process still writes it.
    write(f"{root}/model.ckpt-7_temp/part-00002-of-00002.data-00000-of-00001")
    gfile.remove(f"{root}/{LEFT[4]}")
    clock.now = 600.0
    remove_leftovers(f"{root}/model.ckpt", clock)
    folder = {name for name in list_files(root) if name.startswith("model.ckpt-7_temp/")}
    assert list_files(root) == {LEFT[0]} | folder
    assert len(folder) == 3


def test_a_fault_of_the_storage_is_suppressed(tmp_path):
    remove_leftovers(f"{tmp_path}/none/model.ckpt", Clock())
    write(f"{tmp_path}/none/{LEFT[0]}")
    clock = Clock()
    for clock.now in (0.0, 600.0):  # The first call has found nothing.
        remove_leftovers(f"{tmp_path}/none/model.ckpt", clock)
    assert list_files(str(tmp_path)) == set()


def test_a_training_removes_what_a_killed_one_left(tmp_path):
    model_dir = tmp_path / "model"
    run_process(forked.python(KILLED_JOB, model_dir), exit_code=-signal.SIGXFSZ)
    assert [name for name in list_files(str(model_dir)) if "tempstate" in name]
    remove_leftovers(f"{model_dir}/model.ckpt", lambda: time.monotonic() - 600)

    def model_fn(features, labels, mode):
        loss = tf.compat.v1.get_variable("w", [])
        step = tf.compat.v1.train.get_global_step()
        return est.EstimatorSpec(mode, loss=loss, train_op=tf.compat.v1.assign_add(step, 1))

    def input_fn():
        return tf.data.Dataset.from_tensors(np.zeros(1)).repeat()

    est.Estimator(model_fn, str(model_dir)).train(input_fn, max_steps=5)
    assert not [name for name in list_files(str(model_dir)) if "temp" in name]
    assert tf.train.latest_checkpoint(str(model_dir)) == f"{model_dir}/model.ckpt-5"
