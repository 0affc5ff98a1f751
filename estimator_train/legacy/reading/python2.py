"""Recognizes Python 2 in source that is not valid Python 3."""

import re

# Pattern of a line, description, and the fixer of 2to3.
_PYTHON2_PATTERNS = (
    (r"^\s*print\s+[^(=\s]", "uses the print statement", "print"),
    (r"^\s*print\s*$", "uses the print statement", "print"),
    (r"^\s*except\s+[\w.()\s,]+,\s*\w+\s*:", "catches an error with a comma", "except"),
    (r"^\s*raise\s+[\w.]+\s*,", "raises an error with a comma", "raise"),
    (r"^\s*exec\s+[^(=\s]", "uses the exec statement", "exec"),
    (r"<>", "compares with <>", "ne"),
    (r"`[^`]+`", "uses backticks", "repr"),
    (r"\bur['\"]", "has a ur'' string", "unicode"),
    (r"\b0\d+\b", "has an octal number without 0o", "numliterals"),
    (r"\b\d+[lL]\b", "has a long number", "long"),
    (r"^\s*def\s+\w+\(.*\([\w\s,]+\).*\):", "unpacks a tuple in its arguments", "tuple_params"),
)


def describe_python2(source: bytes, error: Exception) -> str | None:
    """Describes the Python 2 syntax that the compiler rejected, and names its fix.

    Args:
      source: The source.
      error: The error that the compiler raised.

    Returns:
      "line N: ...", or None if the line does not look like Python 2.
    """
    line = getattr(error, "lineno", None)
    lines = source.decode("utf-8", "replace").splitlines()
    if isinstance(error, (TabError, IndentationError)) and "inconsistent" in str(error):
        return f"line {line}: mixes tabs and spaces, as Python 2 allowed. `reindent` fixes this."
    if line is None or not 0 < line <= len(lines):
        return None
    # The compiler may report the line after the Python 2 syntax.
    for number in (line, line - 1):
        for pattern, description, fix in _PYTHON2_PATTERNS:
            if number > 0 and re.search(pattern, lines[number - 1]):
                text = lines[number - 1].strip()
                return (
                    f"line {number}: this is Python 2: it {description} ({text!r}). "
                    f"`2to3 -f {fix} -w FILE` fixes this (2to3 is part of Python up to 3.12), and "
                    "`2to3 -w FILE` fixes the complete file."
                )
    return None
