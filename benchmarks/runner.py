"""Runs measurements, each in a process of its own, peers taking turns in every round."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark
from benchmarks.measure import MARK

_ROOT = Path(__file__).parents[1]


def jobs(benchmarks: Iterable[Benchmark]) -> list[list[Benchmark]]:
    """Rows that are measured together, in the order of the first of each."""
    found: dict[str, list[Benchmark]] = {}
    for benchmark in benchmarks:
        found.setdefault(benchmark.job or benchmark.name, []).append(benchmark)
    return list(found.values())


def run(
    rows: Sequence[Benchmark], rounds: int, quick: bool, originals: Mapping[str, str | None]
) -> list[dict[str, list[float]]]:
    """Measure every peer of a job once a round: A B C, A B C, ...

    Args:
      rows: The rows of the job, or the one that has none.
      rounds: How often.
      quick: Whether to prove only that it works.
      originals: Interpreters of `ORIGINAL` and `OLDER_ORIGINAL`; a peer without one is left out.

    Returns:
      For each row the figures of all rounds by peer.

    Raises:
      RuntimeError: A measurement failed; with the end of what it said.
    """
    first = rows[0]
    interpreters = {peer: originals.get(peer, sys.executable) for peer in first.peers}
    asked = {peer: path for peer, path in interpreters.items() if path}
    figures: list[dict[str, list[float]]] = [{peer: [] for peer in asked} for _ in rows]
    for _ in range(rounds):
        for peer, interpreter in asked.items():
            measured = _measure(interpreter, first.name, peer, quick)
            for row, seen in zip(rows, figures, strict=True):
                seen[peer].append(measured[row.name] if row.job else measured)
    return figures


def _measure(interpreter: str, name: str, peer: str, quick: bool) -> Any:
    command = [interpreter, "-m", "benchmarks.measure", name, peer, *["--quick"] * quick]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    # An installed package has its bytecode; that of a checkout is there from the second round on.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False
    )
    figures = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if done.returncode or not figures:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return json.loads(figures[-1].removeprefix(MARK))
