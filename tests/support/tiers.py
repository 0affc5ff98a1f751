"""The second tier of tests, `-m long`: slow tests, and most cases of long tables."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")


def first(chosen: Collection[Any], cases: Iterable[Any]) -> list[Any]:
    """Returns cases for `parametrize`: the chosen ones in the first tier, others in the second."""
    return [case if case in chosen else _long(case) for case in cases]


def every(nth: int, cases: Iterable[Any]) -> list[Any]:
    """Returns cases for `parametrize`: each n-th in the first tier, the others in the second."""
    return [case if not number % nth else _long(case) for number, case in enumerate(cases)]


def sampled(nth: int, cases: Iterable[Case]) -> list[Case]:
    """Returns each n-th case, or all cases with `BREADTH=all` in the environment."""
    return list(cases)[:: 1 if os.environ.get("BREADTH") == "all" else nth]


def of_today(nth: int, cases: Iterable[Case]) -> list[Case]:
    """Returns the n-th part of the cases whose turn it is; n days in a row run all of them.

    `TESTS_DAY` in the environment is the number of the day (`conftest.py` sets it), or `all`.
    """
    day = os.environ["TESTS_DAY"]
    return list(cases) if day == "all" else list(cases)[int(day) % nth :: nth]


def _long(case: Any) -> Any:
    values: Sequence[Any] = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.long)
