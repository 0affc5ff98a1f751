"""Records our answers that differ from tf.estimator's: `python record_differences.py`.

Run it with `tests/oracle` and `tests/conformance` in PYTHONPATH. It writes our_answers.json and the
table in docs/migrating.md.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import differences
from breadth import asking
from flavours import ours
from outcomes import recorded

PAGE = Path(__file__).parents[2] / "docs" / "migrating.md"
_TABLE = re.compile(r"(?<=<!-- differences -->\n\n).*?(?=\n<!-- end of differences -->)", re.DOTALL)


def write_table(answers: dict[str, dict[str, Any]]) -> None:
    """Replaces the table in docs/migrating.md."""
    table = differences.make_table(answers)
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_TABLE.sub(lambda _: table, text), encoding="utf-8")


def read_table() -> str:
    """Returns the table in docs/migrating.md."""
    match = _TABLE.search(PAGE.read_text(encoding="utf-8"))
    assert match, f"{PAGE} has no table of differences"
    return match[0]


def main() -> None:
    known = asking.all_questions(ours())
    answers = {}
    for name, *flags in (("breadth",), ("breadth_v1_behaviour", "--v1")):
        golden = recorded(name)
        with tempfile.NamedTemporaryFile() as file:
            command = [sys.executable, "-m", "breadth.asking", "--ours", file.name, *flags, *golden]
            subprocess.run(command, check=True)
            found = json.load(file)
        answers[name] = {
            question: differences.VARIES if question in differences.VARYING else answer
            for question, answer in found.items()
            if not asking.alike(answer, asking.expected(question, golden, known))
        }
    text = json.dumps(answers, indent=1, sort_keys=True, ensure_ascii=False)
    differences.RECORDED.write_text(text + "\n", encoding="utf-8")
    write_table(answers)


if __name__ == "__main__":
    main()
