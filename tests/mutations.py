"""Counts how many single faults in the package the tests find: `python tests/mutations.py`.

The script inserts one fault at a time into a copy of the repository, at random places with a fixed
seed: it inverts a comparison, changes a constant, or removes a call or an argument. It draws no
fault that tests cannot detect: `strict` of a `zip`, arguments of the dataclass decorator. For each
fault it runs the test files that execute the faulty function, the most specific first, until a test
fails: first those of the first tier, then those of the second. It ignores a test that also fails
without the fault. One run of all tests records which test file executes which function (`--map`).
The script keeps this record and its results (`--results`), and continues an interrupted run.
"""

from __future__ import annotations

import argparse
import ast
import collections
import concurrent.futures
import dataclasses
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("estimator_train", "tf_contrib", "input_fns", "flags")
TIERS = {"first": "not long", "second": "long"}
LONGEST_SECS = 900
OTHER = {
    **{ast.Eq: "!=", ast.NotEq: "==", ast.Lt: ">=", ast.GtE: "<", ast.Gt: "<=", ast.LtE: ">"},
    **{ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in"},
}
# Every function of a copy calls it to record which test file executes it.
NOTES = """
import os
_seen = set()
def hit(place):
    test = os.environ.get("MUTATIONS_TEST")
    if test and (test, place) not in _seen:
        _seen.add((test, place))
        file = os.open(os.environ["MUTATIONS_HITS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, f"{place} {test}\\n".encode())
        os.close(file)
"""
PLUGIN = """
import os
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    os.environ["MUTATIONS_TEST"] = item.nodeid.partition("::")[0]
    yield
"""
# Writes the first test that fails.
FAILURE = """
import os
def pytest_runtest_logreport(report):
    if report.failed:
        with open(os.environ["MUTATIONS_FAILURE"], "w") as file:
            file.write(report.nodeid)
"""


@dataclasses.dataclass(frozen=True)
class Fault:
    """A change in one line; columns count bytes, and `function` is the line of its `def`, or 0."""

    path: str
    line: int
    start: int
    end: int
    text: str
    kind: str
    function: int

    @property
    def name(self) -> str:
        return f"{self.path}:{self.line}:{self.start} {self.kind}"

    def apply(self, root: Path) -> str:
        """Changes the line in a copy of the repository; returns the changed line."""
        file = root / self.path
        lines = file.read_bytes().splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = line[: self.start] + self.text.encode() + line[self.end :]
        file.write_bytes(b"".join(lines))
        return lines[self.line - 1].decode().strip()


def faults_of(path: str, source: str) -> Iterator[Fault]:
    """Yields all faults that a module could have."""
    functions: dict[ast.AST, int] = {}
    tree = ast.parse(source)
    for node in ast.walk(tree):
        here = functions.get(node, 0)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            here = node.lineno
        for child in ast.iter_child_nodes(node):
            functions[child] = here
    undetectable = {part for node in ast.walk(tree) for part in _undetectable(node)}
    for node in ast.walk(tree):
        if node in undetectable:
            continue
        for place, text, kind in _changes(node):
            start, end = place
            if start[0] == end[0]:
                yield Fault(path, start[0], start[1], end[1], text, kind, functions.get(node, 0))


def _undetectable(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the parts of a node whose change no test can detect."""
    if isinstance(node, ast.ClassDef):
        made = [one for one in node.decorator_list if "dataclass" in ast.unparse(one)]
        yield from (part for one in made for part in ast.walk(one))
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "zip":
        yield from (node, *(keyword.value for keyword in node.keywords))


_Place = tuple[tuple[int, int], tuple[int, int]]


def _changes(node: ast.AST) -> Iterator[tuple[_Place, str, str]]:
    """Yields for each change of a node its place, its new text and its name."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        (right,) = node.comparators
        place = _end(node.left), _start(right)
        # A parenthesis that closes or opens next to the operator would be lost.
        if place[0][0] == place[1][0] and place[1][1] - place[0][1] <= len(" is not "):
            yield place, f" {OTHER[type(node.ops[0])]} ", "comparison turned"
    elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        yield (_start(node), _end(node)), repr(value), "constant changed"
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield (_start(node), _end(node)), "pass", "call left out"
    elif isinstance(node, ast.Call) and node.keywords:
        last = node.keywords[-1]
        others = [*node.args, *(keyword.value for keyword in node.keywords[:-1])]
        if others and last.arg:
            yield (_end(others[-1]), _end(last.value)), "", "argument dropped"


def _start(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: Any) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset


def draw(root: Path, folders: Iterable[str], count: int, seed: int) -> list[Fault]:
    """Returns faults that compile, drawn from all possible faults in the folders."""
    faults = []
    for folder in folders:
        for file in sorted((root / folder).rglob("*.py")):
            path = str(file.relative_to(root))
            faults += faults_of(path, file.read_text(encoding="utf-8"))
    random.Random(seed).shuffle(faults)
    found: list[Fault] = []
    with tempfile.TemporaryDirectory() as directory:
        for fault in faults:
            copy = Path(directory) / fault.path
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / fault.path, copy)
            fault.apply(Path(directory))
            try:
                compile(copy.read_bytes(), fault.path, "exec")
            except SyntaxError:
                continue
            found.append(fault)
            if len(found) == count:
                break
    return found


def copy_repository(root: Path, target: Path) -> Path:
    ignored = shutil.ignore_patterns(".git", ".venv", "*.pyc", "__pycache__", "build", "runs")
    return shutil.copytree(root, target, ignore=ignored, symlinks=True)


def run_tests(root: Path, *arguments: str, **variables: str) -> int:
    """Runs tests of a copy with its package; returns the exit code, -1 after the time limit."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        command,
        cwd=root,
        env={**environment, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(LONGEST_SECS if "-x" in arguments else None)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return -1


def map_tests(root: Path, workers: int, marks: str, tests: list[str]) -> dict[str, list[str]]:
    """Returns the test files that execute each function ("path:line of def")."""
    with tempfile.TemporaryDirectory() as directory:
        copy = copy_repository(root, Path(directory) / "copy")
        for package in PACKAGES:
            for file in (copy / package).rglob("*.py"):
                _add_notes(file, str(file.relative_to(copy)))
        (copy / "mutation_notes.py").write_text(NOTES)
        (copy / "mutation_plugin.py").write_text(PLUGIN)
        hits = Path(directory) / "hits"
        hits.touch()
        arguments = ["-p", "mutation_plugin", "-m", marks, "-n", str(workers), "--dist=worksteal"]
        run_tests(copy, *arguments, *tests, MUTATIONS_HITS=str(hits))
        found: dict[str, set[str]] = collections.defaultdict(set)
        for line in hits.read_text().splitlines():
            place, test = line.split(" ", 1)
            found[place].add(test)
    return {place: sorted(files) for place, files in sorted(found.items())}


def _add_notes(file: Path, path: str) -> None:
    """Inserts a call into each function of a file that records its execution."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            note = ast.parse(f"_mutation_hit('{path}:{node.lineno}')")
            node.body[ast.get_docstring(node) is not None : 0] = note.body
    futures = [ast.unparse(node).startswith("from __future__") for node in tree.body]
    begin = sum(futures) + (ast.get_docstring(tree) is not None)
    tree.body[begin:begin] = ast.parse("from mutation_notes import hit as _mutation_hit").body
    file.write_text(ast.unparse(ast.fix_missing_locations(tree)) + "\n", encoding="utf-8")


def tests_for(fault: Fault, root: Path, executed: dict[str, list[str]]) -> list[str]:
    """Returns the test files that execute the faulty function, the most specific first."""
    breadth = collections.Counter(test for tests in executed.values() for test in tests)
    if fault.function:
        found = set(executed.get(f"{fault.path}:{fault.function}", ()))
    else:  # An import executes the line: all tests that use the module.
        here = [tests for place, tests in executed.items() if place.startswith(f"{fault.path}:")]
        found = {test for tests in here for test in tests}
    # Test files outside of folders check the complete package and execute little.
    whole = {f"tests/{file.name}" for file in (root / "tests").glob("test_*.py")}
    return sorted(found | whole, key=lambda test: (breadth[test], test))


class Copies:
    """Two copies of the repository that run tests: one with a fault, one without.

    Args:
      fault: The fault.
      root: The repository.
      directory: Directory of the copies.
    """

    def __init__(self, fault: Fault, root: Path, directory: Path) -> None:
        self._whole = copy_repository(root, directory / "whole")
        self._faulty = copy_repository(root, directory / "faulty")
        (self._faulty / "mutation_failure.py").write_text(FAILURE)
        self._failure = directory / "failure"
        self.line = fault.apply(self._faulty)

    def first_failure(self, marks: str, tests: list[str]) -> str | None:
        """Returns the first test that fails because of the fault, or None."""
        others: list[str] = []
        while True:
            self._failure.write_text("")
            arguments = ["-p", "no:xdist", "-p", "mutation_failure", "-x", "-m", marks, *others]
            code = run_tests(self._faulty, *arguments, *tests, MUTATIONS_FAILURE=str(self._failure))
            test = self._failure.read_text()
            if code in (0, -1, 5):  # 5: no test has these marks.
                return None
            if not test:
                return "an error before the first test"
            if run_tests(self._whole, "-p", "no:xdist", "-m", marks, test) == 0:
                return test
            others.append(f"--deselect={test}")


def examine(fault: Fault, root: Path, tests: list[str], tiers: list[str]) -> dict[str, Any]:
    """Returns the tier that finds a fault, its test, and the faulty line."""
    result = {"name": fault.name, "found_by": "no test", "files": len(tests)}
    with tempfile.TemporaryDirectory() as directory:
        copies = Copies(fault, root, Path(directory))
        result["line"] = copies.line
        for tier in tiers if tests else ():
            test = copies.first_failure(TIERS[tier], tests)
            if test:
                return {**result, "found_by": tier, "test": test}
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2, help="processes that run tests")
    parser.add_argument("--tiers", nargs="+", choices=TIERS, default=[*TIERS])
    parser.add_argument("--folders", nargs="+", default=PACKAGES, help="where faults are inserted")
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout to look at")
    parser.add_argument("--map", type=Path, default=Path("mutations_map.json"))
    parser.add_argument("--results", type=Path, default=Path("mutations_results.jsonl"))
    parser.add_argument("tests", nargs="*", help="test files to try it with; all by default")
    asked = parser.parse_args()
    if not asked.map.exists():
        marks = " or ".join(TIERS[tier] for tier in asked.tiers)
        executed = map_tests(asked.root, asked.workers, marks, asked.tests)
        asked.map.write_text(json.dumps(executed, indent=1))
    executed = json.loads(asked.map.read_text())
    lines = asked.results.read_text().splitlines() if asked.results.exists() else []
    results = {one["name"]: one for one in map(json.loads, lines)}

    def look_at(fault: Fault) -> None:
        tests = tests_for(fault, asked.root, executed)
        results[fault.name] = result = examine(fault, asked.root, tests, asked.tiers)
        with asked.results.open("a") as file:
            file.write(json.dumps(result) + "\n")
        print(f"{result['found_by']:8} {fault.name}: {result['line']}", flush=True)

    faults = draw(asked.root, asked.folders, asked.count, asked.seed)
    left = [fault for fault in faults if fault.name not in results]
    with concurrent.futures.ThreadPoolExecutor(asked.workers) as pool:
        list(pool.map(look_at, left))
    counts = collections.Counter(results[fault.name]["found_by"] for fault in faults)
    found = counts["first"] + counts["second"]
    print(f"The first tier finds {counts['first']} of {len(faults)} faults, both find {found}.")


if __name__ == "__main__":
    main()
