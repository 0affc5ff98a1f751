"""Callbacks on two synchronous workers: the same numbers as fit on one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import forked
import numpy as np
import pytest
import tensorflow as tf
from small_models import BATCH, X, Y

from tests.keras import callbacks_job

ROOT = Path(__file__).parents[2]
# What the job imports.
PATH = f"{ROOT}{os.pathsep}{ROOT / 'tests' / 'support'}"


def launch(directory: Path, what: str) -> Any:
    """Runs the job on two workers; returns a reader of its last checkpoint."""
    job = forked.python(callbacks_job.__file__, directory, what)
    done = subprocess.run(
        [sys.executable, "-m", "estimator_train", "launch", "--workers=1", "--", *job],
        env={**os.environ, "PYTHONPATH": PATH, "TF_CPP_MIN_LOG_LEVEL": "3"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return tf.train.load_checkpoint(str(directory / "run"))


def fitted(directory: Path, epochs: int, *, stopping: bool) -> Any:
    directory.mkdir()
    model = callbacks_job.build()
    model.compile(callbacks_job.adam(), "mse", metrics=["mae"])
    model.fit(
        X,
        Y,
        batch_size=BATCH,
        shuffle=False,
        epochs=epochs,
        callbacks=callbacks_job.callbacks(str(directory), stopping=stopping),
        validation_data=(X, Y),
        verbose=0,
    )
    return model


def assert_same_weights(found: Any, model: Any) -> None:
    for variable in model.weights:
        value = found.get_tensor(variable.name.partition(":")[0])
        np.testing.assert_allclose(value, variable.numpy(), rtol=1e-5, atol=1e-7)


@pytest.mark.long
def test_workers_end_with_the_last_epoch_and_the_chief_alone_writes(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    found = launch(ours, "all")
    assert found.get_tensor("global_step") == 4 * callbacks_job.EPOCHS
    assert_same_weights(found, fitted(theirs, callbacks_job.EPOCHS, stopping=False))
    rows = [(d / "log.csv").read_text().splitlines() for d in (ours, theirs)]
    assert [len(lines) for lines in rows] == [callbacks_job.EPOCHS + 1] * 2
    assert rows[0][0] == rows[1][0]
    for one, other in zip(rows[0][1:], rows[1][1:], strict=True):
        expected = [float(value) for value in other.split(",")]
        assert [float(value) for value in one.split(",")] == pytest.approx(expected, rel=1e-5)
    assert sorted(p.name for p in ours.glob("*.keras")) == ["1.keras", "2.keras", "3.keras"]


@pytest.mark.long
def test_workers_stop_early_with_the_best_weights(tmp_path: Path) -> None:
    found = launch(tmp_path, "stopping")
    # One step more than fit, by which each learns that the others stop; its weights are undone.
    assert found.get_tensor("global_step") == 4 * 2 + 1
    assert_same_weights(found, fitted(tmp_path / "theirs", 3, stopping=True))
