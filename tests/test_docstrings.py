"""Docstrings of functions begin with a verb in the third person: "Returns ...", "Starts ..."."""

import ast
import re
from pathlib import Path

import pytest

from tests.verbs import VERBS

ROOT = Path(__file__).parent.parent
PACKAGES = ("estimator_train", "tf_contrib", "input_fns", "flags")


def begins_with_verb(docstring: str) -> bool:
    word = re.sub(r"\W", "", docstring.split()[0])
    # "See" refers to the function or base class that has the description.
    return word == "See" or word in VERBS


def wrong_docstrings(path: Path) -> list[str]:
    """Functions whose docstring does not begin with a verb; properties are described as nouns."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            is_property = any("property" in ast.unparse(one) for one in node.decorator_list)
            if docstring and not is_property and not begins_with_verb(docstring):
                found.append(f"{node.name}: {docstring.splitlines()[0]}")
    return found


def folders() -> list[str]:
    found = {path.parent for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    return sorted(str(folder.relative_to(ROOT)) for folder in found)


@pytest.mark.parametrize("folder", folders())
def test_docstrings_of_functions_begin_with_a_verb(folder: str) -> None:
    wrong = {
        path.name: found
        for path in sorted((ROOT / folder).glob("*.py"))
        if (found := wrong_docstrings(path))
    }
    assert wrong == {}


def test_other_beginnings_are_found(tmp_path: Path) -> None:
    path = tmp_path / "sample.py"
    path.write_text(
        'def good():\n    """Returns one."""\n'
        'def noun():\n    """The value."""\n'
        'def plural():\n    """Keys of the metrics."""\n'
        'def predicate():\n    """Whether it is so."""\n'
        "def undocumented():\n    pass\n"
        'class Box:\n    """A box."""\n'
        '    @property\n    def width(self):\n        """Width in metres."""\n'
    )
    assert wrong_docstrings(path) == [
        "noun: The value.",
        "plural: Keys of the metrics.",
        "predicate: Whether it is so.",
    ]
