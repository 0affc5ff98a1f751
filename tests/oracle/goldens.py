"""Golden files: JSON with one entry a line, so that diffs can be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write(path: Path, golden: dict[str, Any]) -> None:
    """Write a dict as JSON, sorted, one line for every key."""
    lines = [
        f"{json.dumps(key)}: {json.dumps(golden[key], ensure_ascii=False, sort_keys=True)}"
        for key in sorted(golden)
    ]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def read(path: Path) -> dict[str, Any]:
    """Read what `write` wrote."""
    return json.loads(path.read_text(encoding="utf-8"))
