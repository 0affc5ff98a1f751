"""Prints the fields of a JobSet, a TrainJob and a TrainingRuntime in Kubeflow's published models.

Run by `record.py --trainer=PYTHON`, an interpreter with `pip install kubeflow-trainer-api==2.3.0`.
"""

from __future__ import annotations

import json
import re
import types
import typing
from typing import Any

from kubeflow_trainer_api import models

KINDS = ["JobsetV1alpha2JobSet", "TrainerV1alpha1TrainJob", "TrainerV1alpha1TrainingRuntime"]
VALUES = ("Quantity", "IntOrString")  # A number or a string.


def type_name(annotation: Any) -> str:
    """Returns a type in the form of the recorded TFJob: `int`, `list[Name]`, `dict(str, Name)`."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return type_name(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return type_name(next(one for one in arguments if one is not type(None)))
    if origin is list:
        return f"list[{type_name(arguments[0])}]"
    if origin is dict:
        return f"dict(str, {type_name(arguments[1])})"
    if annotation is Any or annotation.__name__.endswith(VALUES):
        return "object"
    return str(annotation.__name__)


def main() -> None:
    """Print each class that the kinds reach: its fields with their types, and the required ones."""
    found: dict[str, dict[str, object]] = {}
    names = list(KINDS)
    while names:
        name = names.pop()
        kind = getattr(models, name, None)
        if kind is None or name in found or not hasattr(kind, "model_fields"):
            continue
        fields = {
            field.alias or key: type_name(field.annotation)
            for key, field in kind.model_fields.items()
        }
        required = [
            field.alias or key for key, field in kind.model_fields.items() if field.is_required()
        ]
        found[name] = {"fields": fields, "required": required}
        names += re.findall(r"\w+", " ".join(fields.values()))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
