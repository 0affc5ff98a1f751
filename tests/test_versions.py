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
    "tests": "quick",
    "commit": "0a1b2c3d",
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
    new = {"python": "3.12.1", "tensorflow": "2.21.0"}
    old = {"python": "3.9.1", "tensorflow": "2.9.0"}
    for name, change in {"a": new, "b": {**new, "tests": "first tier"}, "c": old}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({**CELL, **change}))
    page = versions.format_page(versions.read_results(tmp_path))
    libraries = "2.16.0 | 1.26.4 | 4.25.9 | 3.0.6"
    figures = "0a1b2c3d | 0.981 | 78 | 0 | 435"
    assert [line for line in page.splitlines() if line[:3] == "| 3"] == [
        f"| 3.9.1 | 2.9.0 | {libraries} | quick | {figures} |",
        f"| 3.12.1 | 2.21.0 | {libraries} | first tier | {figures} |",
        f"| 3.12.1 | 2.21.0 | {libraries} | quick | {figures} |",
    ]


@pytest.mark.parametrize(
    ("change", "is_green"), [({}, True), ({"failed": 1}, False), ({"accuracy": 0.9}, False)]
)
def test_a_cell_is_green_by_its_job_and_its_tests(change, is_green):
    assert versions.is_green({**CELL, **change}) is is_green


def test_the_quick_tests_of_a_cell_exist():
    assert [path for path in versions.QUICK if not (ROOT / "tests" / path).exists()] == []


def test_nox_and_the_workflow_name_the_same_versions():
    text = (ROOT / ".github/workflows/ci.yml").read_text()
    named = [
        ast.literal_eval(found) for found in re.findall(r"(?:python|tensorflow): (\[.*\])", text)
    ]
    nox = (ROOT / "noxfile.py").read_text()
    assert all(f'"{version}"' in nox for versions_of in named for version in versions_of)
    assert [len(versions_of) for versions_of in named] == [4, 6]
    assert text.count("- { python:") == 4
