"""Keras 3 models in clusters: the losses of one process, and jobs with parameter servers."""

from __future__ import annotations

from pathlib import Path

import pytest
from launched import launched, numbers_after, python

STEPS = 40


@pytest.mark.long
def test_two_synchronous_workers_compute_the_losses_of_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRATEGY", "none")
    one = launched(["--max_restarts=0"], python("keras_3_job.py", tmp_path / "one", STEPS, 16))
    assert one.code == 0, one.text[-3000:]
    expected = numbers_after("losses:", one.lines("chief:0"))
    assert len(expected) == STEPS
    monkeypatch.setenv("STRATEGY", "multi_worker")
    arguments = ["--workers=1", "--evaluator", "--max_restarts=0"]
    two = launched(arguments, python("keras_3_job.py", tmp_path / "two", STEPS, 8))
    assert two.code == 0, two.text[-3000:]
    for task in ("chief:0", "worker:0"):
        assert numbers_after("losses:", two.lines(task)) == pytest.approx(expected, rel=1e-5)
    assert numbers_after("accuracy", two.lines("evaluator:0"))


@pytest.mark.long
@pytest.mark.parametrize("strategy", ["none", "parameter_server"])
@pytest.mark.parametrize("loop", ["1", "auto"])
def test_a_keras_3_model_trains_with_a_parameter_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strategy: str, loop: str
) -> None:
    monkeypatch.setenv("STRATEGY", strategy)
    monkeypatch.setenv("LOOP", loop)
    arguments = ["--workers=2", "--ps=1", "--evaluator", "--max_restarts=0"]
    done = launched(arguments, python("keras_3_job.py", tmp_path, 600, 16))
    assert done.code == 0, done.text[-3000:]
    (*_, accuracy) = numbers_after("accuracy", done.lines("evaluator:0"))
    assert accuracy > 0.9
