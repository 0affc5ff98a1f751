"""Writing of golden files with one entry a line, so that their diffs can be read."""

from __future__ import annotations

import json
from typing import Any

from outcomes import GOLDEN


def write(name: str, golden: dict[str, Any]) -> None:
    """Write tests/golden/`name`.json, which `outcomes.recorded` reads."""
    lines = [
        f"{json.dumps(key)}: {json.dumps(golden[key], ensure_ascii=False, sort_keys=True)}"
        for key in sorted(golden)
    ]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (GOLDEN / f"{name}.json").write_text(text, encoding="utf-8")
