"""The examples of Keras's guides: `fit` and the Estimator give the same numbers from one file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(example: str, how: str, directory: Path, *flags: str) -> tuple[Any, str]:
    """What the example prints: its last line read, and the rest."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / example), f"--how={how}", f"--dir={directory}", *flags],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()
    return json.loads(lines[-1]), "\n".join(lines[:-1])


@pytest.mark.slow
def test_the_guide_to_several_devices_goes_on_with_the_same_numbers(tmp_path: Path) -> None:
    for _ in range(2):  # The second run goes on from the first.
        by_fit, _ = run("keras_multi_gpu.py", "fit", tmp_path / "fit")
        by_estimator, _ = run("keras_multi_gpu.py", "estimator", tmp_path / "estimator")
        assert by_estimator == pytest.approx(by_fit, rel=1e-4)
    assert by_fit["accuracy"] > 0.9
    replicated, _ = run("keras_multi_gpu.py", "estimator", tmp_path / "two", "--replicas=2")
    assert replicated["accuracy"] > 0.8


@pytest.mark.slow
def test_the_distributed_tutorial_has_the_same_numbers(tmp_path: Path) -> None:
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
