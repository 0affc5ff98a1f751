"""Comparison of answers with recorded ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

_GRAPHS = ("graph_def", "meta_graph_def")


def leaf_pairs(ours: Any, theirs: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yields the places of nested lists and dicts, each with our value and the recorded one.

    Asserts that both have the same keys and lengths.
    """
    if isinstance(theirs, dict):
        assert sorted(ours) == sorted(theirs), f"{where}: {sorted(ours)}, not {sorted(theirs)}"
        for key in theirs:
            yield from leaf_pairs(ours[key], theirs[key], f"{where}/{key}")
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), f"{where}: {ours}, not {theirs}"
        for number, item in enumerate(theirs):
            yield from leaf_pairs(ours[number], item, f"{where}[{number}]")
    else:
        yield where, ours, theirs


def assert_alike(
    ours: Any, theirs: Any, where: str = "", *, rel: float = 1e-5, abs: float = 1e-7
) -> None:
    """Compares nested values, floats with tolerances."""
    for place, one, other in leaf_pairs(ours, theirs, where):
        expected = pytest.approx(other, rel=rel, abs=abs) if isinstance(other, float) else other
        assert one == expected, f"{place}: {one!r}, not {expected!r}"


def assert_lines_in_order(seen: list[str], expected: list[str]) -> None:
    """Checks that the expected lines occur in their order; other lines may be between them."""
    rest = iter([_round(line) for line in seen])
    for line in expected:
        assert any(_round(line) == other for other in rest), f"{line!r} not in {seen}"


def _round(line: str) -> str:
    """Returns a line whose numbers have four digits."""
    return re.sub(r"\d+\.\d+(e-\d+)?", lambda number: f"{float(number[0]):.4g}", line)


def without_early_graph(recorded: Any) -> Any:
    """Returns recorded events without the graph that tf.estimator writes before it is complete.

    A training writes its complete graph only.

    Args:
      recorded: Nested lists and dicts. Events are lists of [step, kind, tag], or maps of a kind to
        [first step, last step, count].
    """
    if isinstance(recorded, dict):
        result = {key: without_early_graph(value) for key, value in recorded.items()}
        for kind in _GRAPHS:
            if isinstance(result.get(kind), list) and result[kind][2] > 1:
                result[kind][2] -= 1
        return result
    if isinstance(recorded, list):
        result = [without_early_graph(value) for value in recorded]
        for row in ([0, kind, ""] for kind in _GRAPHS):
            if result.count(row) > 1:
                result.remove(row)
        return result
    return recorded
