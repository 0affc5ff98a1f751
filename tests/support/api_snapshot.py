"""Describes the public API: `python tests/support/api_snapshot.py` writes tests/api.json.

Run it at a release. Until the next one, CHANGELOG.md must mention each public name that differs
from the file (tests/test_api.py).
"""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

RELEASED = Path(__file__).parents[1] / "api.json"
MODULES = (
    "estimator_train",
    "estimator_train.compat",
    "estimator_train.compat.v1",
    "estimator_train.experimental",
    "estimator_train.export",
    "estimator_train.hooks",
    "estimator_train.keras",
    "estimator_train.predictor",
    "flags",
    "input_fns",
)
_PLAIN = (str, int, float, bool, tuple, type(None))


def describe_api() -> dict[str, Any]:
    """Returns a description of each public name: a list of texts that users can rely on."""
    values = {}
    for module in map(importlib.import_module, MODULES):
        public = [name for name in dir(module) if not name.startswith("_")]
        for name in sorted(getattr(module, "__all__", public)):
            value = getattr(module, name)
            if not inspect.ismodule(value):
                values[f"{module.__name__}.{name}"] = value
    classes = [value for value in values.values() if inspect.isclass(value)]
    return {name: _describe(value, classes) for name, value in values.items()}


def _describe(value: Any, public_classes: Sequence[type]) -> list[str]:
    if getattr(value, "__module__", "").startswith(("tensorflow", "tf_keras")):
        return [f"{value.__module__.partition('.')[0]}'s {value.__name__}"]
    if not inspect.isclass(value):
        return [_describe_call(value)]
    bases = [cls.__name__ for cls in value.__mro__[1:] if cls in public_classes]
    members = [
        f"{name}{_describe_call(getattr(value, name))}"
        for name in sorted(dir(value))
        if not name.startswith("_") and _is_ours(value, name)
    ]
    return [_describe_call(value), f"bases: {', '.join(bases)}", *members]


def _is_ours(cls: type, name: str) -> bool:
    """Returns whether a class of this project defines a member: others change with versions."""
    owner = next((base for base in cls.__mro__ if name in vars(base)), cls)
    return owner.__module__.partition(".")[0] in ("estimator_train", "flags", "input_fns")


def _describe_call(value: Any) -> str:
    """Returns the arguments with their defaults, or the type of a value that is not callable."""
    if not callable(value):
        return f": {type(value).__name__}"
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return "(...)"
    return f"({', '.join(map(_describe_parameter, parameters))})"


def _describe_parameter(parameter: inspect.Parameter) -> str:
    marks = {
        inspect.Parameter.VAR_POSITIONAL: "*",
        inspect.Parameter.VAR_KEYWORD: "**",
        inspect.Parameter.KEYWORD_ONLY: "keyword ",
    }
    text = marks.get(parameter.kind, "") + parameter.name
    if parameter.default is inspect.Parameter.empty:
        return text
    plain = isinstance(parameter.default, _PLAIN)
    return f"{text}={parameter.default!r}" if plain else f"{text}=..."


if __name__ == "__main__":
    text = json.dumps(describe_api(), indent=1, sort_keys=True)
    RELEASED.write_text(text + "\n", encoding="utf-8")
