"""Synchronous workers that read on where they stopped."""

from __future__ import annotations

from pathlib import Path

import input_job
import numpy as np
import pytest
import tensorflow as tf
from launched import launched, python


@pytest.mark.long
@pytest.mark.parametrize(
    ("saving", "kills"),
    [
        ("save_checkpoints_steps=3", ["chief:0:19"]),
        pytest.param("save_checkpoints_secs=0.001", ["worker:0:7"], marks=pytest.mark.long),
    ],
)
def test_killed_workers_see_each_example_once_an_epoch(
    tmp_path: Path, saving: str, kills: list[str]
) -> None:
    done = launched(
        ["--workers=1", f"--max_restarts={2 * len(kills)}"],
        python("input_job.py", tmp_path / "model", saving, *kills),
    )
    assert done.code == 0, done.text[-3000:]
    assert len([*tmp_path.glob("model-*")]) == len(kills), done.text[-3000:]
    path = tf.train.latest_checkpoint(str(tmp_path / "model"))
    seen = tf.train.load_variable(path, "history") - 1
    for epoch in np.split(seen, input_job.EPOCHS):
        assert sorted(epoch.ravel()) == [*range(input_job.ROWS)]
    parts = np.split(seen, input_job.WORKERS, axis=1)
    *before, last = tf.train.get_checkpoint_state(tmp_path / "model").all_model_checkpoint_paths
    assert last == path
    for checkpoint, positions in [(last, 0), *((one, input_job.WORKERS) for one in before)]:
        assert len(tf.io.gfile.glob(f"{checkpoint}.data-*-of-input")) == positions
    assert [set(part.ravel() % 2) for part in parts] == [{0}, {1}]  # Each reads its own.
