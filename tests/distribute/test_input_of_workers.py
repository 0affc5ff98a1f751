"""Workers in step that read on where they stopped."""

from __future__ import annotations

from pathlib import Path

import input_job
import numpy as np
import pytest
import tensorflow as tf
from launched import launched, python


@pytest.mark.slow
def test_killed_workers_see_each_example_once_an_epoch(tmp_path: Path) -> None:
    kills = ["worker:0:7", "chief:0:19"]
    done = launched(
        ["--workers=1", f"--max_restarts={2 * len(kills)}"],
        python("input_job.py", tmp_path / "model", *kills),
    )
    assert done.code == 0, done.text[-3000:]
    assert len([*tmp_path.glob("model-*")]) == len(kills)
    path = tf.train.latest_checkpoint(str(tmp_path / "model"))
    seen = tf.train.load_variable(path, "history") - 1
    for epoch in np.split(seen, input_job.EPOCHS):
        assert sorted(epoch.ravel()) == [*range(input_job.ROWS)]
    parts = np.split(seen, input_job.WORKERS, axis=1)
    saved = [*(tmp_path / "model").glob("model.ckpt-42.data-*-of-input")]
    assert len(saved) == input_job.WORKERS
    assert not [*(tmp_path / "model").glob(f"model.ckpt-{input_job.STEPS}.data-*-of-input")]
    assert [set(part.ravel() % 2) for part in parts] == [{0}, {1}]  # Each reads its own.
