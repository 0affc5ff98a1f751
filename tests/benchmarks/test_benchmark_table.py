"""Rows and ratios of the benchmark table."""

import pytest

from benchmarks import table
from benchmarks.benchmark import OURS, Benchmark
from benchmarks.rows import BENCHMARKS
from benchmarks.training.model import compute_steady_rate

BENCHMARK = Benchmark("name", "a title", "steps/s", {})


def test_ratios_are_taken_round_by_round() -> None:
    # The second round ran on a machine twice as slow, for both.
    rows = table.make_rows(BENCHMARK, {OURS: [200.0, 100.0, 220.0], "peer": [100.0, 50.0, 100.0]})
    assert rows[1]["ratios"] == [2.0, 2.0, 2.2]
    assert (rows[0]["median"], rows[1]["median"], rows[1]["ratio"]) == (200.0, 100.0, 2.0)


def test_a_ratio_above_one_is_better_for_times_too() -> None:
    times = Benchmark("name", "a title", "ms", {}, less_is_better=True)
    assert table.make_rows(times, {OURS: [2.0], "peer": [10.0]})[1]["ratio"] == 5.0


def test_markdown_has_a_line_for_each_row_and_leaves_our_ratio_empty() -> None:
    rows = table.make_rows(BENCHMARK, {OURS: [1234.0], "peer": [61.7]})
    assert table.format_markdown(rows).splitlines() == [
        "| a title | estimator_train | 1,234 | 1,234 to 1,234 | steps/s | | | |",
        "| a title | peer | 61.7 | 61.7 to 61.7 | steps/s | 20.00 | 20 to 20 |  |",
    ]


def test_the_rate_excludes_the_warm_up() -> None:
    marks = [(10, 100.0), (20, 150.0), (30, 151.0), (40, 152.0), (50, 153.0)]
    assert compute_steady_rate(marks, window=10) == pytest.approx(10.0)


def test_a_goal_is_reached_by_the_printed_median() -> None:
    asked = Benchmark("name", "a title", "steps/s", {}, goals={"near": 2.0, "far": 2.0})
    rows = table.make_rows(asked, {OURS: [1.996], "near": [1.0], "far": [1.01], "free": [1.0]})
    assert [row["reached"] for row in rows] == [None, True, False, None]
    ends = [line.split(" | ")[-1] for line in table.format_markdown(rows).splitlines()[1:]]
    assert ends == ["2.0, reached |", "2.0, not reached |", " |"]
    assert table.list_missed_goals(rows) == ["a title, compared with far: 1.98 of 2.0"]


def test_every_goal_names_a_peer() -> None:
    for benchmark in BENCHMARKS.values():
        assert set(benchmark.goals) <= set(benchmark.peers), benchmark.name
