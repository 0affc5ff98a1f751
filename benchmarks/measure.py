"""Makes one measurement and prints it: `python -m benchmarks.measure BENCHMARK PEER [--quick]`.

The output is JSON: a figure, or the figures of all rows of a job by name.
"""

import argparse
import json

from benchmarks.rows import BENCHMARKS, GPU_BENCHMARKS

MARK = "figure:"


def main() -> None:
    """Measures one peer of a benchmark in this process."""
    parser = argparse.ArgumentParser()
    benchmarks = {**BENCHMARKS, **GPU_BENCHMARKS}
    parser.add_argument("benchmark", choices=benchmarks)
    parser.add_argument("peer")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    peer = benchmarks[arguments.benchmark].peers[arguments.peer]
    print(MARK, json.dumps(peer(arguments.quick)))


if __name__ == "__main__":
    main()
