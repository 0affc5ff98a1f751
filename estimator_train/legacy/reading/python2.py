"""Tells code of Python 2 from a syntax error in Python 3."""

import re

_SIGNS = (
    (r"^\s*print\s+[^(=\s]", "prints by a statement", "print"),
    (r"^\s*print\s*$", "prints by a statement", "print"),
    (r"^\s*except\s+[\w.()\s,]+,\s*\w+\s*:", "catches an error with a comma", "except"),
    (r"^\s*raise\s+[\w.]+\s*,", "raises an error with a comma", "raise"),
    (r"^\s*exec\s+[^(=\s]", "executes by a statement", "exec"),
    (r"<>", "compares by <>", "ne"),
    (r"`[^`]+`", "uses backticks", "repr"),
    (r"\bur['\"]", "has a ur'' string", "unicode"),
    (r"\b0\d+\b", "has an octal number without 0o", "numliterals"),
    (r"\b\d+[lL]\b", "has a long number", "long"),
    (r"^\s*def\s+\w+\(.*\([\w\s,]+\).*\):", "takes a tuple apart in its arguments", "tuple_params"),
)


def python2_problem(source: bytes, error: Exception) -> str | None:
    """What is Python 2 in a source that does not compile, and the fix of it by name.

    Args:
      source: The source.
      error: What the compiler raised.

    Returns:
      "line N: ...", or None if it does not look like Python 2.
    """
    line = getattr(error, "lineno", None)
    lines = source.decode("utf-8", "replace").splitlines()
    if isinstance(error, (TabError, IndentationError)) and "inconsistent" in str(error):
        return f"line {line}: mixes tabs and spaces, as Python 2 allowed. `reindent` mends it."
    if line is None or not 0 < line <= len(lines):
        return None
    # The compiler may stop on the line after the one with the sign.
    for number in (line, line - 1):
        for pattern, what, fix in _SIGNS:
            if number > 0 and re.search(pattern, lines[number - 1]):
                return (
                    f"line {number}: this is Python 2: it {what} ({lines[number - 1].strip()!r}). "
                    f"The fixer `{fix}` of 2to3 mends it (`2to3 -f {fix} -w FILE`; 2to3 is part of "
                    "Python up to 3.12), and `2to3 -w FILE` all there is."
                )
    return None
