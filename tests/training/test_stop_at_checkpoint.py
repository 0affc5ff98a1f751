"""A worker stops as soon as the checkpoint of the last step exists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from job_cases import estimator
from jobs import tiny_input

from estimator_train.training.stopping_hooks import (
    make_stop_at_checkpoint_step_hook,
)
from tests.training.our_names import OURS


def test_a_worker_trains_on_until_the_checkpoint_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = {"chief": ["a:1"], "worker": ["b:1"]}
    tf_config = {"cluster": cluster, "task": {"type": "worker", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(tf_config))
    worker = estimator(OURS, str(tmp_path / "m"))
    monkeypatch.delenv("TF_CONFIG")
    hook = make_stop_at_checkpoint_step_hook(worker, 3, wait_after_file_check_secs=0)
    steps: list[int] = []

    class Chief(tf.compat.v1.train.SessionRunHook):
        """Writes the checkpoint of step 4 while the worker makes its fifth step."""

        def after_run(self, run_context: Any, run_values: Any) -> None:
            steps.append(len(steps) + 1)
            if len(steps) == 5:
                estimator(OURS, str(tmp_path / "m")).train(tiny_input, max_steps=4)

    # The worker's part, alone: it writes no checkpoints.
    alone = estimator(OURS, str(tmp_path / "w"), save_checkpoints_steps=None)
    alone.train(tiny_input, max_steps=20, hooks=[Chief(), hook])
    assert steps == [1, 2, 3, 4, 5]


def test_no_last_step_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="One of num_steps or last_step must be specified"):
        make_stop_at_checkpoint_step_hook(estimator(OURS, str(tmp_path)), None)
