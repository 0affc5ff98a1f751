"""Formats figures as rows of a table: medians, ranges, and ratios to each peer."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks.benchmark import OURS, Benchmark

HEAD = (
    "| benchmark | peer | median | min to max | unit | times as good | min to max | goal |\n"
    "|---|---|---:|---:|---|---:|---:|---|"
)


def make_rows(benchmark: Benchmark, figures: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
    """Returns a row for each peer.

    The ratio is above 1 if our figure is better. It is the median of the ratios of the rounds: in a
    round both run one after the other, so a slow phase of the machine affects both. A goal is
    reached if this median, as printed, is at least the goal.
    """
    rows = []
    for peer, values in figures.items():
        pairs = zip(figures[OURS], values, strict=True)
        ratios = [b / a if benchmark.less_is_better else a / b for a, b in pairs]
        goal = benchmark.goals.get(peer)
        rows.append(
            {
                "benchmark": benchmark.title,
                "peer": peer,
                "unit": benchmark.unit,
                "figures": list(values),
                "median": median(values),
                "ratios": ratios,
                "ratio": median(ratios),
                "goal": goal,
                "reached": None if goal is None else round(median(ratios), 2) >= goal,
            }
        )
    return rows


def format_markdown(some_rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns the lines of the table below `HEAD`."""
    return "\n".join(
        f"| {row['benchmark']} | {row['peer']} | {_format_figure(row['median'])} "
        f"| {_format_range(row['figures'])} | {row['unit']} "
        + ("| | | |" if row["peer"] == OURS else _format_comparison(row))
        for row in some_rows
    )


def list_missed_goals(some_rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns a line for each missed goal."""
    return [
        f"{row['benchmark']}, compared with {row['peer']}: {row['ratio']:.2f} of {row['goal']}"
        for row in some_rows
        if row["reached"] is False
    ]


def _format_comparison(row: Mapping[str, Any]) -> str:
    reached = {None: "", True: f"{row['goal']}, reached", False: f"{row['goal']}, not reached"}
    return f"| {row['ratio']:.2f} | {_format_range(row['ratios'])} | {reached[row['reached']]} |"


def _format_range(figures: Sequence[float]) -> str:
    return f"{_format_figure(min(figures))} to {_format_figure(max(figures))}"


def _format_figure(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"
