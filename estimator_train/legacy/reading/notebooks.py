"""Reads the code of Jupyter notebooks."""

import json
import re
import shlex
from pathlib import Path

SUFFIX = ".ipynb"
# Lines for IPython: magics, shell commands and help.
_MAGIC = re.compile(r"^(\s*)(?:[%!].*|\?.*|[\w.]+\?+\s*)$")
# A name that a shell command or magic gives a list of lines.
_ASSIGNED_MAGIC = re.compile(r"^(\s*[\w, ]+=\s*)[%!].*$")
_CELL_MAGIC = re.compile(r"%%(\w+)[ \t]*(.*)")
_PYTHON_MAGICS = frozenset({"capture", "prun", "python", "python3", "time", "timeit"})
_FILE_MAGICS = frozenset({"file", "writefile"})


def read_source(path: str | Path) -> bytes:
    """Returns the source of a Python file, or the code cells of a notebook as one file.

    Lines for IPython become `pass`. A cell for a file (`%%writefile`) becomes a statement that
    writes it; cells in another language are left out.

    Raises:
      OSError: The file cannot be read.
      SyntaxError: The file ends with .ipynb and is no notebook.
    """
    content = Path(path).read_bytes()
    if not str(path).endswith(SUFFIX):
        return content
    try:
        cells = json.loads(content)["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError) as error:
        text = f"this is no notebook of format 4 ({type(error).__name__}: {error})"
        raise SyntaxError(text, (str(path), 1, 0, "")) from None
    return "\n".join(_drop_magics(source) for source in sources).encode()


def _drop_magics(source: str) -> str:
    magic = _CELL_MAGIC.match(source.lstrip())
    if magic:
        body = source.lstrip()[magic.end() :].removeprefix("\n")
        if magic[1] in _FILE_MAGICS:
            return _write_file(magic[2], body)
        return f"pass\n{_drop_magics(body)}" if magic[1] in _PYTHON_MAGICS else ""
    lines = (_MAGIC.sub(r"\1pass", line) for line in source.splitlines())
    return "\n".join(_ASSIGNED_MAGIC.sub(r"\1[]", line) for line in lines)


def _write_file(arguments: str, content: str) -> str:
    """Returns a statement that writes, or with the argument -a extends, a file."""
    names = shlex.split(arguments)
    mode = "a" if names[:1] in (["-a"], ["--append"]) else "w"
    return f"with open({names[-1]!r}, {mode!r}, encoding='utf-8') as _: _.write({content!r})"
