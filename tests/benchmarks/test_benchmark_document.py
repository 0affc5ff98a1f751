"""The figures of a run in docs/performance.md."""

import pytest

from benchmarks import document, table
from benchmarks.benchmark import OURS, Benchmark

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
