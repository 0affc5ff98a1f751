"""Runs a job and quick tests under this Python and TensorFlow, and writes the table of all of them.

    python .ci/versions.py cell RESULTS     # in an environment that the package is installed in
    python .ci/versions.py table RESULTS    # docs/versions.md, from the results of the cells

RESULTS is a directory of a JSON file for each cell. `noxfile.py` makes the environments.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parent.parent
JOB = ["train", "--preset", "digits"]
ACCURACY = 0.95
# Names, loops, Keras models and exports: where the versions of libraries differed.
TESTS = [
    "test_names.py",
    "engine/loops/test_training_loop.py",
    "keras/test_adapter.py",
    "keras/test_keras_layers.py",
    "export/test_saved_model.py",
]
PACKAGES = ("tensorflow", "tf-keras", "numpy", "protobuf", "pandas")


def main(command: str, results: str) -> int:
    """Does what the command line says; returns the exit code."""
    directory = Path(results)
    if command == "table":
        (ROOT / "docs/versions.md").write_text(page(read(directory)))
        return 0
    cell = measured()
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{cell['python']}-{cell['tensorflow']}.json").write_text(json.dumps(cell))
    print(json.dumps(cell))
    return 0 if passes(cell) else 1


def measured() -> dict[str, str | int | float]:
    """The versions that are installed, and how the job and the tests went."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        accuracy = job(directory)
        report = Path(directory) / "tests.xml"
        paths = [f"tests/{path}" for path in TESTS]
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *paths],
            cwd=ROOT,
            check=False,
        )
        suite = ElementTree.parse(report).getroot()[0].attrib
    failed = int(suite["failures"]) + int(suite["errors"])
    return {
        "python": platform.python_version(),
        **{package: metadata.version(package) for package in PACKAGES},
        "accuracy": accuracy,
        "passed": int(suite["tests"]) - failed - int(suite["skipped"]),
        "failed": failed,
        "seconds": round(time.monotonic() - start),
    }


def job(directory: str) -> float:
    """Runs the main job in a directory; returns its accuracy, 0 if it failed."""
    command = [sys.executable, "-m", "estimator_train", *JOB]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    outcome = subprocess.run(
        command, cwd=directory, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    rows = dict(line.split(maxsplit=1) for line in outcome.stdout.splitlines())
    return 0.0 if outcome.returncode else float(rows["accuracy"])


def passes(cell: dict[str, str | int | float]) -> bool:
    """Whether a cell is green."""
    return not cell["failed"] and float(cell["accuracy"]) >= ACCURACY


def read(directory: Path) -> list[dict[str, str | int | float]]:
    """The results of all cells, by Python and then by TensorFlow."""
    cells = [json.loads(path.read_text()) for path in directory.glob("*.json")]
    numbers = [[int(n) for n in f"{c['python']}.{c['tensorflow']}".split(".")] for c in cells]
    return [cell for _, cell in sorted(zip(numbers, cells, strict=True), key=lambda pair: pair[0])]


def page(cells: list[dict[str, str | int | float]]) -> str:
    """The text of docs/versions.md."""
    columns = ("python", *PACKAGES, "accuracy", "passed", "failed", "seconds")
    names = ["Python", "TensorFlow", *columns[2:]]
    lines = [
        f"| {' | '.join(names)} |",
        f"|{'|'.join([' --- '] * 6 + [' ---: '] * 4)}|",
        *(f"| {' | '.join(text(cell[column]) for column in columns)} |" for cell in cells),
    ]
    tests = "\n".join(f"- `tests/{path}`" for path in TESTS)
    return f"""# Versions

Each line is an environment that `nox` made, with the newest libraries that pip then took. In it ran
the main job, `estimator-train {" ".join(JOB)}`, whose accuracy on the test digits must be
{ACCURACY} or more, and these quick tests:

{tests}

Seconds are those of the job and the tests, on two cores that other work shared. Cells that were run
on different days ran as many of these tests as there were then.

{chr(10).join(lines)}

`nox -s cell` runs all cells again, `nox -s "cell(3.12, 2.16)"` one cell, and `nox -s table` writes
this page.
TensorFlow has no wheels for Python 3.13 before 2.20.
"""


def text(value: str | int | float) -> str:
    """A value as the table shows it."""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
