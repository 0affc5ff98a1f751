"""The second tier of tests, `-m long`: what takes long by nature, and the rest of long tables."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import pytest


def first(chosen: Collection[Any], cases: Iterable[Any]) -> list[Any]:
    """The cases for `parametrize`: the chosen ones in the first tier, the others in the second."""
    return [case if case in chosen else _long(case) for case in cases]


def every(nth: int, cases: Iterable[Any]) -> list[Any]:
    """The cases for `parametrize`: each nth in the first tier, the others in the second."""
    return [case if not number % nth else _long(case) for number, case in enumerate(cases)]


def sampled(nth: int, questions: Iterable[str]) -> list[str]:
    """Each nth question, or with `BREADTH=all` in the environment all of them."""
    return list(questions)[:: 1 if os.environ.get("BREADTH") == "all" else nth]


def _long(case: Any) -> Any:
    values: Sequence[Any] = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.long)
