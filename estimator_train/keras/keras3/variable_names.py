"""Names of a graph's variables that do not depend on how many models the process has built.

Keras numbers automatic names of layers in a process: "dense", "dense_1". In the graph the
layers of each model are numbered from zero.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

import keras
import tensorflow as tf

from estimator_train.keras.keras3.keras_internals import current_variable_path


class VariableNames:
    """Names of the variables of one model and its optimizer.

    Args:
      model: The eager model whose config has the names of the layers in the graph; None if the
        graph's layers are numbered from zero already.
    """

    def __init__(self, model: keras.Model | None = None) -> None:
        self._numbered: dict[str, str] = {}
        self._paths: dict[str, str] = {}
        if model is not None:
            self._number(_with_nested(model), "")
            self._number_below(model, "")

    def creator(self, next_creator: Callable[..., tf.Variable], **arguments: Any) -> tf.Variable:
        """Creates a variable of Keras under its name; a function for `tf.variable_creator_scope`."""
        arguments["name"] = self.name_of(current_variable_path(arguments["name"]))
        # The name is complete: enclosing scopes of the graph have numbers of their own.
        with tf.compat.v1.name_scope(None):
            return next_creator(**arguments)

    def name_of(self, path: str) -> str:
        """Returns the name of the variable at a Keras path."""
        scope, _, last = path.rpartition("/")
        # The slot of an optimizer has the path of its variable in its name.
        owners = [flat for flat in self._paths if last.startswith(f"{flat}_")]
        if owners:
            flat = max(owners, key=len)
            last = f"{self._paths[flat]}/{last[len(flat) + 1 :]}"
            return f"{scope}/{last}" if scope else last
        parts = path.split("/")
        names = [
            self._numbered.get("/".join(parts[: i + 1]), part) for i, part in enumerate(parts)
        ]
        name = "/".join(names)
        self._paths[path.replace("/", "_")] = name
        return name

    def _number_below(self, model: keras.Model, scope: str) -> None:
        """Numbers the layers of a model and of the models among them."""
        scope = f"{scope}{model.name}/"
        self._number(model.layers, scope)
        for layer in model.layers:
            if isinstance(layer, keras.Model):
                self._number_below(layer, scope)

    def _number(self, layers: Iterable[keras.Layer], scope: str) -> None:
        """Numbers the layers of one scope by base name, in the order of Keras's numbers."""
        counts: dict[str, int] = {}
        for layer in sorted(layers, key=_number_of):
            base = _automatic_base(layer)
            if base is not None:
                count = counts.get(base, 0)
                counts[base] = count + 1
                self._numbered[f"{scope}{layer.name}"] = f"{base}_{count}" if count else base


def _with_nested(model: keras.Model) -> list[keras.Layer]:
    """Returns a model and all its layers. Those of a Functional model are built outside of it."""
    found: list[keras.Layer] = [model]
    for layer in model.layers:
        found += _with_nested(layer) if isinstance(layer, keras.Model) else [layer]
    return found


def _automatic_base(layer: keras.Layer) -> str | None:
    """Returns the name of a layer without its number, or None if the user named the layer."""
    base = re.sub(r"\W+", "", type(layer).__name__)
    base = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", base)
    base = re.sub("([a-z])([A-Z])", r"\1_\2", base).lower()
    return base if re.fullmatch(rf"{re.escape(base)}(_\d+)?", layer.name) else None


def _number_of(layer: keras.Layer) -> int:
    found = re.search(r"_(\d+)$", layer.name)
    return int(found.group(1)) if found else 0
