"""Writing of golden files, in lines that can be read where they differ."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

import numpy as np
from outcomes import GOLDEN

VERSIONS = Path(__file__).with_name("versions.json")
# Their entries take a line each; those of the others, a line for each value.
INDENTED = {
    *("export", "heads", "heads_bad_input", "heads_keys", "heads_replicas", "heads_sequential"),
    *("heads_v1", "run_config", "saved_model", "spec"),
}


def write(name: str, golden: dict[str, Any]) -> None:
    """Writes tests/golden/`name`.json, which `outcomes.recorded` reads."""
    if name in INDENTED:
        text = json.dumps(golden, indent=1, sort_keys=True) + "\n"
    else:
        lines = [
            f"{json.dumps(key)}: {json.dumps(golden[key], ensure_ascii=False, sort_keys=True)}"
            for key in sorted(golden)
        ]
        text = "{\n" + ",\n".join(lines) + "\n}\n"
    (GOLDEN / f"{name}.json").write_text(text, encoding="utf-8")
    print(f"{name}.json: {len(golden)} answers")


def note_version(name: str, *versions_of_packages: str) -> None:
    """Notes the versions of the packages and of Python that recorded a golden file."""
    noted = versions()
    noted[name] = ", ".join(versions_of_packages)
    VERSIONS.write_text(json.dumps(noted, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def own_versions(original: str) -> tuple[str, ...]:
    """Returns the versions in this interpreter, after that of the original."""
    return original, f"Python {platform.python_version()}", f"NumPy {np.__version__}"


def versions() -> dict[str, str]:
    """Returns the versions that recorded each golden file."""
    return json.loads(VERSIONS.read_text(encoding="utf-8")) if VERSIONS.exists() else {}
