"""From the start of a process to the end of a script that only imports TensorFlow."""

import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from benchmarks.benchmark import OURS, Benchmark

_RUN = [os.path.join(sysconfig.get_path("scripts"), "estimator-train"), "run", "--tf1"]
_PYTHON = [sys.executable]


def _measure_milliseconds(command: list[str], quick: bool) -> float:
    """Returns the shortest of some start-up times."""
    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory, "script.py")
        script.write_text("import tensorflow as tf\ntf.compat.v1.placeholder\n")
        secs = []
        for _ in range(1 if quick else 7):
            start = time.perf_counter()
            subprocess.run([*command, script], check=True, stderr=subprocess.DEVNULL)
            secs.append(time.perf_counter() - start)
    return 1e3 * min(secs)


BENCHMARK = Benchmark(
    "run_start",
    "start: a script that imports TensorFlow, by `estimator-train run`",
    "ms",
    {
        OURS: lambda quick: _measure_milliseconds(_RUN, quick),
        "python": lambda quick: _measure_milliseconds(_PYTHON, quick),
    },
    less_is_better=True,
)
