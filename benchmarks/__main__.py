"""Prints one table: estimator_train beside its peers, measured by turns in the same run."""

import argparse
import json
import os
import platform
import sys
from pathlib import Path

from benchmarks import runner, table
from benchmarks.benchmark import OLDER_ORIGINAL, ORIGINAL
from benchmarks.rows import BENCHMARKS


def main() -> int:
    """Measure, print the table as markdown, and write the figures as JSON if asked."""
    arguments = _parse()
    all_rows = []
    print(table.HEAD, flush=True)
    originals = {ORIGINAL: arguments.oracle, OLDER_ORIGINAL: arguments.older_oracle}
    for job in runner.jobs(BENCHMARKS[name] for name in arguments.only or BENCHMARKS):
        measured = runner.run(job, arguments.rounds, arguments.quick, originals)
        found = (table.rows(*row) for row in zip(job, measured, strict=True))
        new_rows = [line for lines in found for line in lines]
        print(table.markdown(new_rows), flush=True)
        all_rows += new_rows
    if any(row["reached"] is False for row in all_rows):
        print(f"\n{table.not_reached(all_rows)}")
    if arguments.json:
        machine = {"cores": os.cpu_count(), "machine": platform.machine()}
        content = {"machine": machine, "rounds": arguments.rounds, "rows": all_rows}
        arguments.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, help="these benchmarks alone")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each peer (5)")
    parser.add_argument(
        "--oracle", metavar="PYTHON", help="an interpreter with TensorFlow 2.15, as one more peer"
    )
    parser.add_argument(
        "--older-oracle",
        metavar="PYTHON",
        help="an interpreter with TensorFlow 2.8, the last one with kernels of boosted trees",
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures here")
    parser.add_argument(
        "--quick", action="store_true", help="a few steps in one round: does it work at all?"
    )
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rounds = 1
    return arguments


if __name__ == "__main__":
    sys.exit(main())
