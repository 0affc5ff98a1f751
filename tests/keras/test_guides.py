"""The examples of Keras's guides: `fit` and the Estimator give the same numbers from one file."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import forked
import pytest
import tf_keras

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs an example as a script; returns its last line as a value, and the other lines."""

    def run(example: str, how: str, directory: Path) -> tuple[Any, str]:
        tf_keras.backend.clear_session()  # Names start from the beginning, as in a new process.
        path = str(EXAMPLES / example)
        monkeypatch.setattr(sys, "argv", [path, f"--how={how}", f"--dir={directory}"])
        capsys.readouterr()
        runpy.run_path(path, run_name="__main__")
        lines = capsys.readouterr().out.splitlines()
        return json.loads(lines[-1]), "\n".join(lines[:-1])

    return run


def run_on_two_devices(example: str, directory: Path) -> Any:
    """Runs an example in a new process with two devices; returns its last line."""
    return forked.printed(EXAMPLES / example, f"--dir={directory}", "--replicas=2")


@pytest.mark.long
def test_the_guide_to_several_devices_continues_with_the_same_numbers(
    run: Any, tmp_path: Path
) -> None:
    for _ in range(2):  # The second run continues the first.
        by_fit, _ = run("keras_multi_gpu.py", "fit", tmp_path / "fit")
        by_estimator, _ = run("keras_multi_gpu.py", "estimator", tmp_path / "estimator")
        assert by_estimator == pytest.approx(by_fit, rel=1e-4)
    assert by_fit["accuracy"] > 0.9
    replicated = run_on_two_devices("keras_multi_gpu.py", tmp_path / "two")
    assert replicated["accuracy"] > 0.8


@pytest.mark.long
def test_the_distributed_tutorial_has_the_same_numbers(run: Any, tmp_path: Path) -> None:
    (by_fit, said), (by_estimator, said_too) = (
        run("keras_distributed.py", how, tmp_path / how) for how in ("fit", "estimator")
    )
    assert said.splitlines()[0].startswith("Learning rate for epoch 1 is 0.001000, loss ")
    assert [line.split(",")[0] for line in said_too.splitlines()] == [
        line.split(",")[0] for line in said.splitlines()
    ]
    for name in ("latest", "loaded", "loaded in scope"):
        assert by_estimator[name] == pytest.approx(by_fit[name], rel=1e-4)
        assert by_fit[name] == pytest.approx(by_fit["latest"], rel=1e-6)
    names = [
        sorted(p.name for p in (tmp_path / how).glob("ckpt_*")) for how in ("fit", "estimator")
    ]
    assert names[0] == names[1]
    assert len(names[0]) == 6
