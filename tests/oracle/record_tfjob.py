"""Prints what a TFJob may hold, as the published client of its operator knows it.

Run by `record.py --kubeflow=PYTHON`, an interpreter with
`pip install kubeflow-training==1.9.4 kubernetes==31.0.0`.
"""

from __future__ import annotations

import inspect
import json
import re

from kubeflow.training import models
from kubernetes import client


def main() -> None:
    """Print each class that a TFJob reaches: its fields with their types, and the required ones."""
    found: dict[str, dict[str, object]] = {}
    names = ["KubeflowOrgV1TFJob"]
    while names:
        name = names.pop()
        kind = getattr(models, name, None) or getattr(client, name, None)
        if kind is None or name in found:
            continue
        fields = {kind.attribute_map[of]: type_name for of, type_name in kind.openapi_types.items()}
        required = [
            field
            for of, field in kind.attribute_map.items()
            if "must not be `None`" in inspect.getsource(getattr(kind, of).fset)
        ]
        found[name] = {"fields": fields, "required": required}
        names += re.findall(r"\w+", " ".join(fields.values()))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
