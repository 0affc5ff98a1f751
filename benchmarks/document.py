"""Writes a run into the documents and the plot: `python -m benchmarks.document FILE.json`.

FILE.json is the output of `python -m benchmarks --json`. Its rows and the missed goals replace the
text between the two marks in docs/performance.md, and a summary that of the README. The plot is
replaced if the run compares the speeds of the Keras models with tf.estimator. The command ends with
code 1 if docs/performance.md gives no reason for a missed goal. A reason begins with a comment such
as `<!-- explains: keras_start -->`.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from benchmarks import plot, table
from benchmarks.benchmark import ORIGINAL
from benchmarks.rows import BENCHMARKS

DOCUMENT = Path(__file__).parents[1] / "docs" / "performance.md"
README = DOCUMENT.parents[1] / "README.md"
PICTURE = DOCUMENT.parent / "pictures" / "speed.png"
BEGIN, END = "<!-- figures: python -m benchmarks.document -->", "<!-- end of figures -->"
# The rows of the README, compared with tf.estimator.
SUMMARY = {
    "keras_linear": "training a linear model",
    "keras_mlp": "training an MLP",
    "keras_linear_xla": 'training the linear model with `RunConfig(xla="auto")`',
    "keras_mlp_xla": 'training the MLP with `RunConfig(xla="auto")`',
    "keras_convnet": "training a ConvNet",
    "keras_evaluation": "100 steps, a checkpoint and an evaluation",
    "keras_start": "the first step of an MLP",
}


def insert_figures(document: str, run: dict[str, Any]) -> str:
    """Returns the document with the figures of a run between the marks."""
    machine = run["machine"]
    parts = [
        f"{run['rounds']} rounds on {machine['cores']} cores ({machine['machine']}):",
        f"{table.HEAD}\n{table.format_markdown(run['rows'])}",
    ]
    if missed := table.list_missed_goals(run["rows"]):
        parts.append("\n".join(["Goals that this run missed:", "", *(f"- {x}" for x in missed)]))
    return replace_marked(document, "\n\n".join(parts))


def insert_summary(readme: str, run: dict[str, Any]) -> str:
    """Returns the README with a summary of a run between the marks.

    Raises:
      ValueError: The run did not compare the rows of the summary with tf.estimator.
    """
    rows = {row["benchmark"]: row for row in run["rows"] if row["peer"] == ORIGINAL}
    missing = [name for name in SUMMARY if BENCHMARKS[name].title not in rows]
    if missing:
        raise ValueError(f"the README needs the rows {missing}, measured with --oracle")
    cores, rounds = run["machine"]["cores"], run["rounds"]
    lines = [
        "Speed of Keras models as a multiple of tf.estimator 2.15, "
        f"with {rounds} rounds on {cores} cores:",
        "",
        "| job | median | min to max |",
        "|---|---:|---:|",
    ]
    for name, label in SUMMARY.items():
        row = rows[BENCHMARKS[name].title]
        low, high = min(row["ratios"]), max(row["ratios"])
        lines.append(f"| {label} | {row['ratio']:.2f} | {low:.2f} to {high:.2f} |")
    goals = [row for row in run["rows"] if row["goal"] is not None]
    reached = f"{len(goals) - len(table.list_missed_goals(run['rows']))} of {len(goals)}"
    lines += [
        "",
        "Each ratio has a goal that was set before it was measured, often well above 1. The run",
        f"reached {reached}; [Performance](docs/performance.md) has all figures, and the reasons",
        "for the others.",
    ]
    return replace_marked(readme, "\n".join(lines))


def list_unexplained(document: str, run: dict[str, Any]) -> list[str]:
    """Returns the benchmarks with a missed goal for which the document gives no reason."""
    explained = set(re.findall(r"<!-- explains: (\w+) -->", document))
    titles = {benchmark.title: name for name, benchmark in BENCHMARKS.items()}
    missed = {row["benchmark"] for row in run["rows"] if row["reached"] is False}
    return sorted({titles.get(title, title) for title in missed} - explained)


def replace_marked(document: str, text: str) -> str:
    """Returns the document with another text between `BEGIN` and `END`.

    Raises:
      ValueError: A mark is missing.
    """
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the document needs {BEGIN!r} and, behind it, {END!r}")
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def main() -> int:
    """Updates the documents and the plot; returns the exit code."""
    run = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for path, insert in ((DOCUMENT, insert_figures), (README, insert_summary)):
        path.write_text(insert(path.read_text(encoding="utf-8"), run), encoding="utf-8")
    picture = plot.draw(run["rows"])
    if picture is not None:
        PICTURE.write_bytes(picture)
    unexplained = list_unexplained(DOCUMENT.read_text(encoding="utf-8"), run)
    for name in unexplained:
        print(f"{DOCUMENT.name} needs a reason for the missed goal of {name}: explains: {name}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
