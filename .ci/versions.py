"""Runs a job and tests under this Python and TensorFlow, and writes the table of all versions.

    python .ci/versions.py cell RESULTS     # the job and quick tests, in a cell's environment
    python .ci/versions.py tier RESULTS     # the job and the first tier of tests
    python .ci/versions.py table RESULTS    # docs/versions.md, from the results

RESULTS is a directory with a JSON file for each run. `noxfile.py` makes the environments.
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
# Names, loops, models of both Keras, exports and old programs: where libraries differed.
QUICK = [
    "test_names.py",
    "engine/loops/test_training_loop.py",
    "keras/test_adapter.py",
    "keras/test_keras_layers.py",
    "keras/keras3/test_keras_3_as_fit.py",
    "keras/keras3/test_keras_3_way_back.py",
    "export/test_saved_model.py",
    "legacy/test_library_names.py",
]
FIRST_TIER = ["-n", "auto", "--maxprocesses=4", "--dist=worksteal"]
PACKAGES = ("tensorflow", "tf-keras", "numpy", "protobuf", "pandas")
Result = dict[str, str | int | float]


def main(command: str, results: str) -> int:
    """Runs the command; returns the exit code."""
    directory = Path(results)
    if command == "table":
        (ROOT / "docs/versions.md").write_text(format_page(read_results(directory)))
        return 0
    paths = [f"tests/{path}" for path in QUICK] if command == "cell" else FIRST_TIER
    result = {"tests": "quick" if command == "cell" else "first tier", **run(paths)}
    directory.mkdir(parents=True, exist_ok=True)
    name = f"{result['python']}-{result['tensorflow']}-{command}.json"
    (directory / name).write_text(json.dumps(result))
    print(json.dumps(result))
    return 0 if is_green(result) else 1


def run(arguments: list[str]) -> Result:
    """Runs the job and tests; returns their results and the installed versions.

    Args:
      arguments: Arguments of pytest.
    """
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        accuracy = run_job(directory)
        report = Path(directory) / "tests.xml"
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *arguments],
            cwd=ROOT,
            check=False,
        )
        suite = ElementTree.parse(report).getroot()[0].attrib
    failed = int(suite["failures"]) + int(suite["errors"])
    return {
        "python": platform.python_version(),
        **{package: metadata.version(package) for package in PACKAGES},
        "commit": find_commit(),
        "accuracy": accuracy,
        "passed": int(suite["tests"]) - failed - int(suite["skipped"]),
        "failed": failed,
        "seconds": round(time.monotonic() - start),
    }


def find_commit() -> str:
    """Returns the short name of the checkout's commit."""
    command = ["git", "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()


def run_job(directory: str) -> float:
    """Runs the main job in a directory; returns its accuracy, 0 if it failed."""
    command = [sys.executable, "-m", "estimator_train", *JOB]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    outcome = subprocess.run(
        command, cwd=directory, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    rows = dict(line.split(maxsplit=1) for line in outcome.stdout.splitlines())
    return 0.0 if outcome.returncode else float(rows["accuracy"])


def is_green(result: Result) -> bool:
    """Returns whether all tests passed and the job reached its accuracy."""
    return not result["failed"] and float(result["accuracy"]) >= ACCURACY


def read_results(directory: Path) -> list[Result]:
    """Returns the results of all runs, in the order of Python, TensorFlow and tests."""
    results = [json.loads(path.read_text()) for path in directory.glob("*.json")]

    def key(result: Result) -> tuple[list[int], bool]:
        numbers = f"{result['python']}.{result['tensorflow']}".split(".")
        return [int(number) for number in numbers], result["tests"] == "quick"

    return sorted(results, key=key)


def format_page(results: list[Result]) -> str:
    """Returns the text of docs/versions.md."""
    columns = ("python", *PACKAGES, "tests", "commit", "accuracy", "passed", "failed", "seconds")
    names = ["Python", "TensorFlow", *columns[2:]]
    lines = [
        f"| {' | '.join(names)} |",
        f"|{'|'.join([' --- '] * 8 + [' ---: '] * 4)}|",
        *(f"| {' | '.join(format_value(r[column]) for column in columns)} |" for r in results),
    ]
    tests = "\n".join(f"- `tests/{path}`" for path in QUICK)
    return f"""# Versions

Each line is an environment that `nox` made, with the newest libraries that pip installed. The main
job ran in it, `estimator-train {" ".join(JOB)}`, whose accuracy on the test digits must be
{ACCURACY} or more, and either the first tier of tests or these quick tests:

{tests}

Seconds are those of the job and the tests, on two cores that other work shared. The commit is the
one whose tests ran; older commits had fewer tests.

{chr(10).join(lines)}

`nox -s cell` runs the quick tests of all versions, `nox -s "cell(3.12, 2.16)"` those of one,
`nox -s tier` the first tier on the oldest and the newest versions, and `nox -s table` writes this
page.
TensorFlow has no wheels for Python 3.13 before 2.20.
"""


def format_value(value: str | int | float) -> str:
    """Returns a value as the table shows it."""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
