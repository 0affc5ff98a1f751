"""Lets lookups of Keras fail for unknown names, as they did before TensorFlow 2.13.

Since then `tf.keras.metrics.deserialize("unknown")` and its relatives return the text itself.
Programs and tuners call them in a `try` to learn whether Keras has a metric or a loss.
"""

import functools
import importlib
from collections.abc import Callable
from typing import Any

_ROOTS = (
    "tf_keras",
    "tensorflow.keras",
    "tensorflow.compat.v1.keras",
    "tensorflow.compat.v2.keras",
)
_KINDS = {
    "metrics": "metric function",
    "losses": "loss function",
    "initializers": "initializer",
    "optimizers": "optimizer",
}
_FUNCTIONS = ("deserialize", "get")


def reject_unknown_names() -> None:
    """Makes `get` and `deserialize` of metrics, losses and so on raise ValueError."""
    for root in _ROOTS:
        keras = _import_attributes(root)
        for kind, words in _KINDS.items():
            module = getattr(keras, kind)
            for name in _FUNCTIONS:
                function = getattr(module, name)
                if not hasattr(function, "rejects_unknown_names"):
                    setattr(module, name, _reject_text(function, words))


def _import_attributes(dotted: str) -> Any:
    """Returns a module that is an attribute of its package; not all can be imported."""
    root, _, attributes = dotted.partition(".")
    module = importlib.import_module(root)
    return functools.reduce(getattr, attributes.split("."), module) if attributes else module


def _reject_text(function: Callable[..., Any], kind: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def look_up(*arguments: Any, **named: Any) -> Any:
        found = function(*arguments, **named)
        if isinstance(found, str):
            raise ValueError(f"Unknown {kind}: {found}")
        return found

    look_up.rejects_unknown_names = True  # type: ignore[attr-defined]
    return look_up
