"""Makes one measurement and prints it: `python -m benchmarks.measure BENCHMARK PEER [--quick]`."""

import argparse

from benchmarks.rows import BENCHMARKS

MARK = "figure:"


def main() -> None:
    """Measure one peer of one benchmark in this process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("benchmark", choices=BENCHMARKS)
    parser.add_argument("peer")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    peer = BENCHMARKS[arguments.benchmark].peers[arguments.peer]
    print(MARK, peer(arguments.quick))


if __name__ == "__main__":
    main()
