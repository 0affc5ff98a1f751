"""The figures of a run in docs/performance.md."""

import dataclasses
import re
from typing import Any

import pytest

from benchmarks import document, table
from benchmarks.benchmark import OURS, Benchmark
from benchmarks.rows import BENCHMARKS

RUN = {
    "machine": {"cores": 2, "machine": "x86_64"},
    "rounds": 1,
    "rows": table.make_rows(
        Benchmark("name", "a title", "steps/s", {}, goals={"peer": 3.0}),
        {OURS: [20.0], "peer": [10.0]},
    ),
}


def test_figures_replace_the_text_between_the_marks() -> None:
    text = f"above\n{document.BEGIN}\nold\n{document.END}\nbelow\n"
    found = document.insert_figures(text, RUN)
    assert found.startswith(f"above\n{document.BEGIN}\n\n1 rounds on 2 cores (x86_64):\n\n")
    assert found.endswith(f"\n\n{document.END}\nbelow\n")
    assert (
        "| a title | peer | 10 | 10 to 10 | steps/s | 2.00 | 2 to 2 | 3.0, not reached |" in found
    )
    assert "- a title, compared with peer: 2.00 of 3.0" in found
    assert "old" not in found
    assert document.insert_figures(found, RUN) == found


def test_the_document_has_the_marks_and_missing_marks_are_named() -> None:
    assert "a title" in document.insert_figures(document.DOCUMENT.read_text(), RUN)
    with pytest.raises(ValueError, match="end of figures"):
        document.insert_figures(document.BEGIN, RUN)


def full_run() -> dict[str, Any]:
    """Returns a run with the rows of the README, of which four missed their goals."""
    rows = []
    for name in document.SUMMARY:
        benchmark = BENCHMARKS[name]
        figures = {OURS: [20.0, 40.0], "tf.estimator": [10.0, 10.0]}
        if benchmark.less_is_better:
            figures = {OURS: [10.0, 20.0], "tf.estimator": [1.0, 1.0]}
        goals = {"tf.estimator": benchmark.goals["tf.estimator"]}
        rows += table.make_rows(dataclasses.replace(benchmark, goals=goals), figures)
    return {**RUN, "rounds": 2, "rows": rows}


def test_the_readme_has_a_summary_of_the_same_run() -> None:
    text = f"above\n{document.BEGIN}\nold\n{document.END}\nbelow\n"
    found = document.insert_summary(text, full_run())
    assert "with 2 rounds on 2 cores:\n\n| job | median | min to max |\n" in found
    assert "\n| training a linear model | 3.00 | 2.00 to 4.00 |\n| training an MLP | 3.00" in found
    assert "\n| the first step of an MLP | 0.08 | 0.05 to 0.10 |\n\nEach ratio has a goal" in found
    assert "\nreached 1 of 7;" in found
    assert document.BEGIN in document.README.read_text()
    with pytest.raises(ValueError, match=r"the README needs the rows \['keras_linear'"):
        document.insert_summary(text, RUN)


def test_a_missed_goal_without_a_reason_is_named() -> None:
    names = document.list_unexplained("<!-- explains: keras_start -->", full_run())
    assert "keras_start" not in names
    assert names == document.list_unexplained("", full_run())[: len(names)]
    assert document.list_unexplained("", RUN) == ["a title"]


def test_every_reason_names_a_benchmark() -> None:
    named = re.findall(r"<!-- explains: (\w+) -->", document.DOCUMENT.read_text())
    assert named
    assert set(named) <= set(BENCHMARKS)
