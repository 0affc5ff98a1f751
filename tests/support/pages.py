"""The code blocks of a page as programs that run one after the other.

Blocks of Python share their names and a directory; blocks of a shell run in that directory. A block
marked `text` shows the output of the block before it. A comment before a block says how it is
tested otherwise:

    <!-- test: alone -->            the first of a program of its own
    <!-- test: 100000 -> 200 -->    with this text in place of that
    <!-- test: elsewhere, by ... --> not here, and where
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
    """A block of code: its language, what is run of it, and whether a new program begins."""

    language: str
    code: str
    alone: bool = False


def blocks_of(text: str) -> list[Block]:
    """The blocks of a page that are run, and the outputs that it shows."""
    found = []
    for match in _BLOCK.finditer(text):
        how, language, code = match["how"] or "", match["language"], match["code"]
        if language not in _RUN or how.startswith("elsewhere"):
            continue
        for change in filter(lambda part: " -> " in part, how.split("; ")):
            before, after = change.split(" -> ")
            assert before in code, f"{before!r} is not in the block that it is to be replaced in"
            code = code.replace(before, after)
        found.append(Block(language, code, alone="alone" in how.split("; ")))
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


def shown(text: str) -> list[str]:
    """The lines of output that a page shows."""
    return [
        line for block in blocks_of(text) if block.language == "text" for line in lines(block.code)
    ]


def lines(output: str) -> list[str]:
    """The lines of an output, with a # for each number and no space more than one."""
    return [
        " ".join(_NUMBER.sub("#", line).split()) for line in output.splitlines() if line.strip()
    ]
