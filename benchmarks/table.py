"""Figures to rows of a table: medians, spread, and ours beside each peer."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks.benchmark import OURS, Benchmark

HEAD = (
    "| benchmark | peer | median | min to max | unit | times as good | min to max | goal |\n"
    "|---|---|---:|---:|---|---:|---:|---|"
)


def rows(benchmark: Benchmark, figures: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
    """One row for each peer.

    The ratio says how many times as good ours is. It is taken round by round, ours and the peer
    having run one after the other, and then the median of the rounds: what slows the machine down
    for a while slows both. A goal is reached where that median, as printed, is no less.
    """
    return [
        {
            "benchmark": benchmark.title,
            "peer": peer,
            "unit": benchmark.unit,
            "figures": list(seen),
            "median": median(seen),
            "ratios": (
                ratios := [
                    b / a if benchmark.less_is_better else a / b
                    for a, b in zip(figures[OURS], seen, strict=True)
                ]
            ),
            "ratio": median(ratios),
            "goal": (goal := benchmark.goals.get(peer)),
            "reached": None if goal is None else round(median(ratios), 2) >= goal,
        }
        for peer, seen in figures.items()
    ]


def markdown(some_rows: Sequence[Mapping[str, Any]]) -> str:
    """Lines of the table, to stand below `HEAD`."""
    return "\n".join(
        f"| {row['benchmark']} | {row['peer']} | {_short(row['median'])} "
        f"| {_span(row['figures'])} | {row['unit']} "
        + ("| | | |" if row["peer"] == OURS else _beside(row))
        for row in some_rows
    )


def not_reached(some_rows: Sequence[Mapping[str, Any]]) -> str:
    """The goals that were missed, a line for each."""
    missed = [
        f"{row['benchmark']}, beside {row['peer']}: {row['ratio']:.2f} of {row['goal']}"
        for row in some_rows
        if row["reached"] is False
    ]
    return "\n".join(
        ["Goals not reached (docs/performance.md and docs/input.md say why):", *missed]
    )


def _beside(row: Mapping[str, Any]) -> str:
    reached = {None: "", True: f"{row['goal']}, reached", False: f"{row['goal']}, not reached"}
    return f"| {row['ratio']:.2f} | {_span(row['ratios'])} | {reached[row['reached']]} |"


def _span(figures: Sequence[float]) -> str:
    return f"{_short(min(figures))} to {_short(max(figures))}"


def _short(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"
