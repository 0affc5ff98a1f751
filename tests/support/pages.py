"""The code blocks of a page as programs that run one after the other.

Blocks of Python share their names and a directory; blocks of a shell run in that directory. A block
marked `text` shows the output of the block before it. A comment before a block says how it is
tested otherwise:

    <!-- test: alone -->            the first block of a separate program
    <!-- test: 100000 -> 200 -->    with the first text replaced by the second
    <!-- test: elsewhere, by ... --> not here, and where
    <!-- test: exact -->            output whose numbers are compared too
"""

from __future__ import annotations

import re
from typing import NamedTuple

_BLOCK = re.compile(
    r"(?:<!-- test: (?P<how>[^\n]*) -->\n+)?```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_RUN = {"python", "bash", "text"}
# What the figures of two runs may differ in.
_NUMBER = re.compile(r"\d[\d,]*(\.\d+)?(e[+-]\d+)?")


class Block(NamedTuple):
    """A block of code or of output, with its marks."""

    language: str
    code: str
    alone: bool = False
    exact: bool = False


def blocks_of(text: str) -> list[Block]:
    """Returns the blocks of a page that are run, and the outputs that it shows."""
    found = []
    for match in _BLOCK.finditer(text):
        how, language, code = match["how"] or "", match["language"], match["code"]
        if language not in _RUN or how.startswith("elsewhere"):
            continue
        for change in filter(lambda part: " -> " in part, how.split("; ")):
            before, after = change.split(" -> ")
            assert before in code, f"{before!r} is not in the block that it is to be replaced in"
            code = code.replace(before, after)
        marks = how.split("; ")
        found.append(Block(language, code, alone="alone" in marks, exact="exact" in marks))
    return found


def programs_of(text: str) -> list[str]:
    """Python programs that run the blocks of a page, each with the page's line for a traceback."""
    programs: list[list[str]] = [[]]
    for block in blocks_of(text):
        if block.language == "text":
            continue
        if block.alone and programs[-1]:
            programs.append([])
        command = ["bash", "-ec", block.code]
        programs[-1].append(
            block.code
            if block.language == "python"
            else f"import subprocess as _s; _s.run({command!r}, check=True)\n"
        )
    return ["\n".join(program) for program in programs if program]


def missing_lines(text: str, output: str) -> list[str]:
    """Returns the lines of output that a page shows and its programs did not print.

    Numbers may differ, except in exact blocks.
    """
    printed = {exact: set(lines(output, exact)) for exact in (True, False)}
    return [
        line
        for block in blocks_of(text)
        if block.language == "text"
        for line in lines(block.code, block.exact)
        if line not in printed[block.exact]
    ]


def lines(output: str, exact: bool = False) -> list[str]:
    """Returns the lines of an output with single spaces and, unless exact, # for each number."""
    return [
        " ".join((line if exact else _NUMBER.sub("#", line)).split())
        for line in output.splitlines()
        if line.strip()
    ]
