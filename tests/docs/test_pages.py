"""Every code block of the README and of docs runs in an empty directory and prints its output.

What a page leaves to its reader, such as their model, is in `readers`, by the page's name.
"""

import os
import re
import shlex
import sys
from pathlib import Path

import forked
import pages
import pytest
from processes import run_process

ROOT = Path(__file__).parents[2]
READERS = Path(__file__).parent / "readers"
PAGES = {
    "readme": ROOT / "README.md",
    **{path.stem: path for path in ROOT.glob("docs/*.md")},
    **{f"{path.parent.name}_{path.stem}": path for path in ROOT.glob("docs/*/*.md")},
}
# Both pages run the same old script.
SAME_READER = {"migrating": "old_codebase"}
# The others train.
QUICK = {"hooks", "migrating", "report"}
# `estimator-train run` chooses what TensorFlow is before it is imported.
FRESH = {
    "keras_model",
    "migration_guide_jobs",
    "migration_guide_training",
    "old_codebase",
    "readme",
}
RUN = {
    name: path
    for name, path in PAGES.items()
    if pages.programs_of(path.read_text()) and name != "versions"
}


@pytest.fixture
def directory(tmp_path, monkeypatch, name):
    """Returns an empty directory, and the commands of the package on the path."""
    python = [sys.executable] if name in FRESH else forked.python()
    commands = {
        "estimator-train": [*python, "-m", "estimator_train"],
        "python": python,
        "pip": ["true"],  # All that the pages install is installed.
    }
    (tmp_path / "bin").mkdir()
    for name, command in commands.items():
        path = tmp_path / "bin" / name
        path.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] * (name not in QUICK)) for name in sorted(RUN)],
)
def test_the_blocks_of_a_page_run(name, directory):
    text = RUN[name].read_text()
    reader = READERS / f"{SAME_READER.get(name, name)}.py"
    before = reader.read_text() if reader.exists() else ""
    printed = ""
    for number, program in enumerate(pages.programs_of(text)):
        (directory / f"page{number}.py").write_text(f"{before}\n{program}")
        outcome = run_process([directory.parent / "bin/python", f"page{number}.py"], cwd=directory)
        printed += outcome.stdout + outcome.stderr
    assert pages.missing_lines(text, printed) == [], printed


def test_every_entry_for_readers_names_a_page():
    assert {path.stem for path in READERS.glob("*.py")} <= set(RUN)


def test_every_block_has_a_language():
    """Checks that no block is skipped because it has no language."""
    for path in PAGES.values():
        fences = re.findall(r"^ *```(.*)$", path.read_text(), re.MULTILINE)
        assert all(fences[::2]), path


PAGE = """
```python
x = 1
```
<!-- test: x -> 10 * x; alone -->

```python
print("x is", 3.5)
```
```text
x is 2.25
```
<!-- test: elsewhere, by hand -->
```bash
rm -r /
```
"""


def test_code_blocks_are_found_changed_and_skipped():
    assert [block.language for block in pages.blocks_of(PAGE)] == ["python", "python", "text"]
    assert pages.programs_of(PAGE) == ["x = 1\n", 'print("10 * x is", 3.5)\n']
    assert pages.missing_lines(PAGE, "x is 8") == []
    assert pages.missing_lines(PAGE, "y is 2.25") == ["x is #"]
    exact = PAGE.replace("```text", "<!-- test: exact -->\n```text")
    assert pages.missing_lines(exact, "x is 8") == ["x is 2.25"]
    assert pages.missing_lines(exact, "x is  2.25") == []
    with pytest.raises(AssertionError, match="'y' is not in the block"):
        pages.blocks_of("<!-- test: y -> z -->\n```bash\nx\n```\n")
