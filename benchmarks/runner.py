"""Runs measurements, each in a process of its own, peers taking turns in every round."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.benchmark import Benchmark
from benchmarks.measure import MARK

_ROOT = Path(__file__).parents[1]


def run(
    benchmark: Benchmark, rounds: int, quick: bool, originals: Mapping[str, str | None]
) -> dict[str, list[float]]:
    """Measure every peer once a round: A B C, A B C, ...

    Args:
      benchmark: What to measure.
      rounds: How often.
      quick: Whether to prove only that it works.
      originals: Interpreters of `ORIGINAL` and `OLDER_ORIGINAL`; a peer without one is left out.

    Returns:
      Figures of all rounds by peer.

    Raises:
      RuntimeError: A measurement failed; with the end of what it said.
    """
    interpreters = {peer: originals.get(peer, sys.executable) for peer in benchmark.peers}
    figures: dict[str, list[float]] = {
        peer: [] for peer, interpreter in interpreters.items() if interpreter
    }
    for _ in range(rounds):
        for peer, seen in figures.items():
            seen.append(_measure(str(interpreters[peer]), benchmark.name, peer, quick))
    return figures


def _measure(interpreter: str, name: str, peer: str, quick: bool) -> float:
    command = [interpreter, "-m", "benchmarks.measure", name, peer, *["--quick"] * quick]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False
    )
    figures = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if done.returncode or not figures:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return float(figures[-1].removeprefix(MARK))
