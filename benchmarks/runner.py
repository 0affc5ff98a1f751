"""Runs each measurement in a separate process; the peers take turns in every round."""

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


def group_by_job(benchmarks: Iterable[Benchmark]) -> list[list[Benchmark]]:
    """Groups the benchmarks that are measured together, in the order of their first rows."""
    groups: dict[str, list[Benchmark]] = {}
    for benchmark in benchmarks:
        groups.setdefault(benchmark.job or benchmark.name, []).append(benchmark)
    return list(groups.values())


def run(
    rows: Sequence[Benchmark], rounds: int, quick: bool, others: Mapping[str, str | None]
) -> list[dict[str, list[float]]]:
    """Measures every peer of a job once in each round: A B C, A B C, ...

    Args:
      rows: The rows of the job, or a single row without a job.
      rounds: Number of rounds.
      quick: Whether only to try the code.
      others: Interpreters of peers that need other packages; peers with None are skipped.

    Returns:
      For each row, the figures of all rounds by peer.

    Raises:
      RuntimeError: A measurement failed; the message has the end of its error output.
    """
    first = rows[0]
    candidates = {peer: others.get(peer, sys.executable) for peer in first.peers}
    interpreters = {peer: path for peer, path in candidates.items() if path}
    figures: list[dict[str, list[float]]] = [{peer: [] for peer in interpreters} for _ in rows]
    for _ in range(rounds):
        for peer, interpreter in interpreters.items():
            result = _measure(interpreter, first.name, peer, quick)
            for row, figures_of_row in zip(rows, figures, strict=True):
                figures_of_row[peer].append(result[row.name] if row.job else result)
    return figures


def _measure(interpreter: str, name: str, peer: str, quick: bool) -> Any:
    command = [interpreter, "-m", "benchmarks.measure", name, peer, *["--quick"] * quick]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    # An installed package has bytecode files, so a checkout may write them too.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.run(
        command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False
    )
    figures = [line for line in process.stdout.splitlines() if line.startswith(MARK)]
    if process.returncode or not figures:
        raise RuntimeError(f"{' '.join(command)} failed:\n{process.stderr[-2000:]}")
    return json.loads(figures[-1].removeprefix(MARK))
