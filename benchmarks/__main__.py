"""Prints a table that compares estimator_train with its peers, which are measured in turns."""

import argparse
import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import runner, table
from benchmarks.benchmark import JAX_FIT, JAX_SCAN, OLDER_ORIGINAL, ORIGINAL, TORCH, TORCH_WORKERS
from benchmarks.rows import BENCHMARKS, GPU_BENCHMARKS


def main() -> int:
    """Measures, prints the table as Markdown, and writes the figures as JSON with --json."""
    arguments = _parse()
    all_rows = []
    print(table.HEAD, flush=True)
    interpreters = {
        ORIGINAL: arguments.oracle,
        OLDER_ORIGINAL: arguments.older_oracle,
        JAX_FIT: arguments.jax,
        JAX_SCAN: arguments.jax,
        TORCH: arguments.torch,
        TORCH_WORKERS: arguments.torch,
    }
    benchmarks = GPU_BENCHMARKS if arguments.gpu else BENCHMARKS
    for job in runner.group_by_job(benchmarks[name] for name in arguments.only or benchmarks):
        measured = runner.run(job, arguments.rounds, arguments.quick, interpreters)
        tables = (table.make_rows(*pair) for pair in zip(job, measured, strict=True))
        new_rows = [row for rows in tables for row in rows]
        print(table.format_markdown(new_rows), flush=True)
        all_rows += new_rows
        if arguments.json:  # After each job, so that a run that is ended early keeps its figures.
            arguments.json.write_text(_serialize(all_rows, arguments.rounds), encoding="utf-8")
    if missed := table.list_missed_goals(all_rows):
        headline = "\nMissed goals (docs/performance.md and docs/input.md give the reasons):"
        print(headline, *missed, sep="\n")
    return 0


def _serialize(rows: Sequence[Mapping[str, object]], rounds: int) -> str:
    machine = {"cores": os.cpu_count(), "machine": platform.machine()}
    content = {"machine": machine, "rounds": rounds, "rows": rows}
    return json.dumps(content, indent=1) + "\n"


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="run only these benchmarks")
    parser.add_argument(
        "--gpu", action="store_true", help="run the benchmarks of a GPU instead of those of CPUs"
    )
    parser.add_argument(
        "--rounds", type=int, default=5, help="number of measurements of each peer (default: 5)"
    )
    parser.add_argument(
        "--oracle", metavar="PYTHON", help="interpreter with TensorFlow 2.15, as an additional peer"
    )
    parser.add_argument(
        "--older-oracle",
        metavar="PYTHON",
        help="interpreter with TensorFlow 2.8, the last version with kernels of boosted trees",
    )
    parser.add_argument(
        "--jax", metavar="PYTHON", help="interpreter with JAX and Keras 3, as additional peers"
    )
    parser.add_argument(
        "--torch",
        metavar="PYTHON",
        help="interpreter with PyTorch and pyarrow, as additional peers",
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="file for the figures, as JSON")
    parser.add_argument(
        "--quick", action="store_true", help="run a few steps in one round, only to try the code"
    )
    arguments = parser.parse_args()
    known = GPU_BENCHMARKS if arguments.gpu else BENCHMARKS
    if unknown := [name for name in arguments.only or () if name not in known]:
        parser.error(f"unknown benchmarks {unknown}; expected some of {', '.join(known)}")
    if arguments.quick:
        arguments.rounds = 1
    return arguments


if __name__ == "__main__":
    sys.exit(main())
