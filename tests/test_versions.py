"""The table of versions: which cells there are, and how their results are written."""

import ast
import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
spec = importlib.util.spec_from_file_location("versions", ROOT / ".ci/versions.py")
versions = importlib.util.module_from_spec(spec)
spec.loader.exec_module(versions)

CELL = {
    "python": "3.12.1",
    "tensorflow": "2.16.2",
    "tf-keras": "2.16.0",
    "numpy": "1.26.4",
    "protobuf": "4.25.9",
    "pandas": "3.0.6",
    "accuracy": 0.980556,
    "passed": 78,
    "failed": 0,
    "seconds": 435,
}


def test_results_are_lines_by_python_and_tensorflow(tmp_path):
    for name, python, tensorflow in (("a", "3.12.1", "2.21.0"), ("b", "3.9.1", "2.9.0")):
        cell = {**CELL, "python": python, "tensorflow": tensorflow}
        (tmp_path / f"{name}.json").write_text(json.dumps(cell))
    lines = [
        line for line in versions.page(versions.read(tmp_path)).splitlines() if line[:3] == "| 3"
    ]
    assert lines == [
        "| 3.9.1 | 2.9.0 | 2.16.0 | 1.26.4 | 4.25.9 | 3.0.6 | 0.981 | 78 | 0 | 435 |",
        "| 3.12.1 | 2.21.0 | 2.16.0 | 1.26.4 | 4.25.9 | 3.0.6 | 0.981 | 78 | 0 | 435 |",
    ]


@pytest.mark.parametrize(
    ("change", "passes"), [({}, True), ({"failed": 1}, False), ({"accuracy": 0.9}, False)]
)
def test_a_cell_is_green_by_its_job_and_its_tests(change, passes):
    assert versions.passes({**CELL, **change}) is passes


def test_what_a_cell_runs_is_there():
    assert [path for path in versions.TESTS if not (ROOT / "tests" / path).exists()] == []


def test_nox_and_the_workflow_name_the_same_versions():
    text = (ROOT / ".github/workflows/ci.yml").read_text()
    named = [
        ast.literal_eval(found) for found in re.findall(r"(?:python|tensorflow): (\[.*\])", text)
    ]
    nox = (ROOT / "noxfile.py").read_text()
    assert all(f'"{version}"' in nox for versions_of in named for version in versions_of)
    assert [len(versions_of) for versions_of in named] == [4, 6]
    assert text.count("- { python:") == 4
