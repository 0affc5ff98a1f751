"""Keras models with batch normalization, whose statistics each worker has its own of."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from launched import launched, numbers_after, python


@pytest.mark.long
@pytest.mark.parametrize(
    ("strategy", "tasks"),
    [
        ("multi_worker", []),
        pytest.param("parameter_server", ["--ps=1"], marks=pytest.mark.long),
    ],
)
def test_a_keras_model_trains_under_the_strategies_of_clusters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strategy: str, tasks: list[str]
) -> None:
    # Weights of a job before, which ended before its first checkpoint: all workers find them.
    monkeypatch.setenv("STRATEGY", "none")
    subprocess.run(python("keras_job.py", tmp_path, 0), check=True)
    assert (tmp_path / "keras" / "keras_model.ckpt.index").exists()
    monkeypatch.setenv("STRATEGY", strategy)
    arguments = ["--workers=1", "--evaluator", "--max_restarts=0", *tasks]
    done = launched(arguments, python("keras_job.py", tmp_path, 90))
    assert done.code == 0, done.text[-3000:]
    (accuracy,) = numbers_after("accuracy", done.lines("evaluator:0"))
    assert accuracy > 0.9
