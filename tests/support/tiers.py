"""The second tier of tests, `-m long`: slow tests, and most cases of long tables."""

from __future__ import annotations

import os
import subprocess
import zlib
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")
# The environment variable that chooses the sample of the second tier.
SAMPLE = "TESTS_SAMPLE"
# The environment variable that is empty if somebody names the tests to run: then none is left out.
ROTATES = "TESTS_ROTATE"
# Files whose tests take most of the time of the first tier.
ROTATING = Path(__file__).parent.parent / "rotating.txt"


def first(chosen: Collection[Any], cases: Iterable[Any], of: int = 1) -> list[Any]:
    """Returns cases for `parametrize`: the chosen ones in the first tier, others in the second.

    Args:
      chosen: Cases of the first tier.
      cases: All cases.
      of: The second tier has the part of the others that the commit chooses, one of so many.
    """
    cases = list(cases)
    return _divide(cases, [case in chosen for case in cases], of)


def every(nth: int, cases: Iterable[Any], of: int = 1) -> list[Any]:
    """Returns cases for `parametrize`: each n-th in the first tier, others in the second.

    Args:
      nth: The first case and each n-th after it are in the first tier.
      cases: All cases.
      of: As for `first`.
    """
    cases = list(cases)
    return _divide(cases, [not number % nth for number in range(len(cases))], of)


def sampled(nth: int, cases: Iterable[Case]) -> list[Case]:
    """Returns each n-th case, or all cases with `BREADTH=all` in the environment."""
    return list(cases)[:: 1 if os.environ.get("BREADTH") == "all" else nth]


def of_commit(nth: int, cases: Iterable[Case]) -> list[Case]:
    """Returns the n-th part of the cases that the commit chooses, the same in each run of it.

    `TESTS_SAMPLE` in the environment is a number (`conftest.py` sets that of the commit), or `all`.
    """
    number = os.environ[SAMPLE]
    return list(cases) if number == "all" else list(cases)[int(number) % nth :: nth]


def read_commit() -> int:
    """Returns the first 32 bits of the hash of the commit that is checked out; 0 without git."""
    command = ["git", "rev-parse", "--verify", "--short=8", "HEAD"]
    try:
        done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    except FileNotFoundError:
        return 0
    return 0 if done.returncode else int(done.stdout[:8], 16)


def move_to_second_tier(items: Iterable[pytest.Item]) -> None:
    """Marks collected tests as those of the second tier.

    Args:
      items: Tests, in the hook `pytest_collection_modifyitems` of a folder.
    """
    for item in items:
        item.add_marker(pytest.mark.long)


def rotate(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Chooses the tests of a commit.

    A third of the tests of `ROTATING` stay in the first tier, and a third move to the second. A
    fifth of the second tier's own tests are left out. Each test has its turn within a few commits.
    All run if somebody names the tests to run, or with `TESTS_SAMPLE=all`.

    Args:
      items: Collected tests; some of them are marked.

    Returns:
      The tests that do not run at this commit.
    """
    number = os.environ[SAMPLE]
    if number == "all" or not os.environ.get(ROTATES):
        return []
    rotating = set(ROTATING.read_text(encoding="utf-8").split())
    left_out = []
    for item in items:
        place = zlib.crc32(item.nodeid.encode()) + int(number)
        if item.get_closest_marker("long"):
            # Not 2, 3 or 4 parts, as of samples: each case has to be chosen by both at some commit.
            if place % 5 == 0:
                left_out.append(item)
        elif item.nodeid.partition("::")[0] in rotating:
            if place % 3 == 1:
                item.add_marker(pytest.mark.long)
            elif place % 3 == 2:
                left_out.append(item)
    return left_out


def _divide(cases: Sequence[Any], in_first: Sequence[bool], of: int) -> list[Any]:
    others = set(of_commit(of, [number for number, one in enumerate(in_first) if not one]))
    return [
        case if in_first[number] else _long(case)
        for number, case in enumerate(cases)
        if in_first[number] or number in others
    ]


def _long(case: Any) -> Any:
    values: Sequence[Any] = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.long)
