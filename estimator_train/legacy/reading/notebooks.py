"""Reads the code of Jupyter notebooks."""

import json
import re
from pathlib import Path

SUFFIX = ".ipynb"
# Lines for IPython: magics, shell commands and help.
_MAGIC = re.compile(r"^(\s*)(?:[%!].*|\?.*|[\w.]+\?+\s*)$")


def read_source(path: str | Path) -> bytes:
    """Returns the source of a Python file, or the code cells of a notebook as one file.

    Lines for IPython become `pass`, and cells with a magic of their own are left out.

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
    if source.lstrip().startswith("%%"):
        return ""
    return "\n".join(_MAGIC.sub(r"\1pass", line) for line in source.splitlines())
