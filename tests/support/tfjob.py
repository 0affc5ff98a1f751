"""Faults of manifests, by the schemas of the published clients of their operators."""

from __future__ import annotations

import re
from typing import Any

import yaml
from outcomes import recorded

_PLAIN = {"int": int, "str": str, "bool": bool, "object": object}


# Kind to the name of its class in the client.
_CLASSES = {
    "JobSet": "JobsetV1alpha2JobSet",
    "TFJob": "KubeflowOrgV1TFJob",
    "TrainJob": "TrainerV1alpha1TrainJob",
    "TrainingRuntime": "TrainerV1alpha1TrainingRuntime",
}


def faults(manifest: str) -> list[str]:
    """Returns the faults of a manifest against the schemas of its kinds, with their places.

    Args:
      manifest: YAML, with one or more documents.
    """
    documents = yaml.safe_load_all(manifest)
    return [fault for one in documents for fault in _faults(one, _CLASSES[one["kind"]], "")]


def _faults(value: Any, kind: str, place: str) -> list[str]:
    if kind in _PLAIN:
        return [] if isinstance(value, _PLAIN[kind]) else [f"{place}: {value!r} is no {kind}"]
    if items := re.fullmatch(r"list\[(.+)\]", kind):
        return [
            fault
            for number, item in enumerate(value)
            for fault in _faults(item, items[1], f"{place}[{number}]")
        ]
    if values := re.fullmatch(r"dict\(str, (.+)\)", kind):
        return [
            fault for key in value for fault in _faults(value[key], values[1], f"{place}.{key}")
        ]
    schema = {**recorded("tfjob"), **recorded("kubernetes")}[kind]
    missing = [f"{place}: no {field}" for field in schema["required"] if field not in value]
    unknown = [f"{place}: {field} is unknown" for field in value if field not in schema["fields"]]
    return [
        *missing,
        *unknown,
        *(
            fault
            for field, of in schema["fields"].items()
            if field in value
            for fault in _faults(value[field], of, f"{place}.{field}")
        ),
    ]
