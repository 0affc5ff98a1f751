"""Writes a run into docs/performance.md and its plot: `python -m benchmarks.document FILE.json`.

FILE.json is the output of `python -m benchmarks --json`. Its rows and the missed goals replace the
text between the two marks in the document. The plot of the README is replaced if the run compares
the speeds of the Keras models with tf.estimator.
"""

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks import plot, table

DOCUMENT = Path(__file__).parents[1] / "docs" / "performance.md"
PICTURE = DOCUMENT.parent / "pictures" / "speed.png"
BEGIN, END = "<!-- figures: python -m benchmarks.document -->", "<!-- end of figures -->"


def insert_figures(document: str, run: dict[str, Any]) -> str:
    """Returns the document with the figures of a run.

    Args:
      document: The text, with `BEGIN` and `END` in it.
      run: The content of the JSON file.

    Raises:
      ValueError: A mark is missing.
    """
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the document needs {BEGIN!r} and, behind it, {END!r}")
    machine = run["machine"]
    parts = [
        f"{run['rounds']} rounds on {machine['cores']} cores ({machine['machine']}):",
        f"{table.HEAD}\n{table.format_markdown(run['rows'])}",
    ]
    missed = [row for row in run["rows"] if row["reached"] is False]
    if missed:
        _, *lines = table.list_missed_goals(missed).splitlines()
        parts.append("\n".join(["Goals that this run missed:", "", *(f"- {x}" for x in lines)]))
    return before + begin + "\n\n" + "\n\n".join(parts) + "\n\n" + end + after


def main() -> None:
    """Updates the document and its plot."""
    run = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(insert_figures(text, run), encoding="utf-8")
    picture = plot.draw(run["rows"])
    if picture is not None:
        PICTURE.write_bytes(picture)


if __name__ == "__main__":
    main()
