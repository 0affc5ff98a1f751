"""Names of the tensors that programs fetch from the graphs of canned estimators and heads."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import ask_collections
import tensorflow as tf
from canned_figures import Case
from jobs import Api

v1 = tf.compat.v1
Names = dict[str, str]


def questions(apis: dict[str, Api]) -> dict[str, Callable[[], Names]]:
    """Returns all questions by name.

    Args:
        apis: The APIs of both generations, by "v1" and "v2".
    """
    return {
        f"{generation} {name}, {mode}": lambda a=apis[generation], c=case, m=mode: _names(c, a, m)
        for mode in ask_collections.MODES
        for generation, cases in ask_collections.canned_cases_by_generation().items()
        for name, case in cases.items()
    }


def _names(case: Case, api: Api, mode: str) -> Names:
    """Returns the names of the loss, the predictions and the parts of linear logits."""
    with tempfile.TemporaryDirectory() as model_dir, tf.Graph().as_default() as graph:
        spec = ask_collections.make_spec(case, api, mode, model_dir)
        found = {_text(key): tensor.name for key, tensor in (spec.predictions or {}).items()}
        if spec.loss is not None:
            found["loss"] = spec.loss.name
        for operation in graph.get_operations():
            kind = operation.name.rpartition("/")[2]
            if kind.startswith("weighted_sum") and operation.outputs:
                found[f"operation {operation.name}"] = ""
    return dict(sorted(found.items()))


def _text(key: Any) -> str:
    return " ".join(key) if isinstance(key, tuple) else str(key)
