"""Private names of Keras 3, each with the reason, and the names of a graph's variables.

Keras numbers automatic names of layers in a process: "dense", "dense_1". In the graph the layers
of each model are numbered from zero, so names do not depend on how many models the process built.
"""

import collections
import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import keras
import tensorflow as tf

# Names and seeds are state of the thread, and Keras has no public way to read and restore them.
from keras.src.backend.common import global_state

# The path of a variable is known before its creation only here.
from keras.src.backend.common.name_scope import current_path

# Clones of the user's own model may run its Python lambdas; the public switch has no way back.
from keras.src.saving.serialization_lib import SafeModeScope

_ISOLATED = ("object_name_uids", "global_seed_generator")
_GENERATOR = "seed_generator"
_Named: TypeAlias = tuple[str, str | None]  # A name, and its automatic part.


@contextlib.contextmanager
def isolate_state() -> Iterator[None]:
    """Numbers layers from zero and makes a new global seed generator inside this context.

    The numbers of automatic names and the seed generator of random operations without a seed are
    state of the thread. In a graph, both must not depend on other models and graphs.
    """
    before = {name: global_state.get_global_attribute(name) for name in _ISOLATED}
    global_state.set_global_attribute("object_name_uids", collections.defaultdict(int))
    global_state.set_global_attribute("global_seed_generator", None)
    try:
        with SafeModeScope(False):
            yield
    finally:
        for name, value in before.items():
            global_state.set_global_attribute(name, value)


def find_variable_path(name: str) -> str:
    """Returns the Keras path of a variable that is being created.

    A layer without its own build() registers its variables when it is first called. They are
    created after this call, outside of the layer's scope.
    """
    registered = global_state.get_global_attribute("uninitialized_variables", [])
    waiting = [variable for variable in registered if variable._value is None]
    if waiting:
        return waiting[0].path
    scope = current_path()
    return f"{scope}/{name}" if scope else name


def read_compile_arguments(model: keras.Model) -> Mapping[str, Any]:
    """Returns the arguments of `Model.compile` as the user gave them.

    The public get_compile_config() serializes them, which loses functions that are not registered.
    """
    return model._compile_config.config


def list_metric_variables(model: keras.Model) -> list[keras.Variable]:
    """Returns the variables of the metrics of a model.

    Metric objects that `compile` was given have variables from their construction, but Keras counts
    them as the model's only from the first step that computes a loss: never in predictions.
    """
    found = {id(variable): variable for variable in model.metrics_variables}
    for compiled in model.metrics:
        given = [
            getattr(compiled, name, None) for name in ("_user_metrics", "_user_weighted_metrics")
        ]
        for metric in tf.nest.flatten(given):
            if isinstance(metric, keras.metrics.Metric):
                found.update((id(variable), variable) for variable in metric.variables)
    return list(found.values())


def list_all_layers(model: keras.Model) -> list[keras.Layer]:
    """Returns a model, its layers and the layers inside of those; `layers` has the direct ones."""
    return list(model._flatten_layers())


def find_learning_rate(optimizer: keras.optimizers.Optimizer) -> Any:
    """Returns the variable, schedule or function; the public property has its current value."""
    return getattr(optimizer, "inner_optimizer", optimizer)._learning_rate


def build_symbolically(model: keras.Model, data: Any) -> None:
    """Makes all variables of a model, as `fit` does under a strategy before the first step."""
    model._symbolic_build(data_batch=data)


class VariableNames:
    """Names of the variables of one model and its optimizer.

    Args:
      model: The eager model whose config has the names of the layers in the graph; None if the
        graph's layers are numbered from zero already.
    """

    def __init__(self, model: keras.Model | None = None) -> None:
        self._numbered: dict[str, str] = {}
        self._paths: dict[str, str] = {}
        self._numbered_anywhere: dict[str, str] = {}
        if model is not None:
            self._number(map(make_automatic_name, _list_with_nested(model)), "")
            self._number_below(model, "")

    @classmethod
    def from_eager_model(cls, model: keras.Model) -> "VariableNames":
        """Returns the names that a subclassed model's variables have in a graph of its own."""
        scopes = {part for variable in model.variables for part in variable.path.split("/")[:-1]}
        generators = (
            (part, _GENERATOR if part.startswith(_GENERATOR) else None) for part in scopes
        )
        optimizers = [model.optimizer] if model.compiled and model.optimizer is not None else []
        names = cls()
        names._numbered_anywhere = {
            **_number_names(generators),
            **_number_names(map(make_automatic_name, list_all_layers(model))),
            **_number_names(map(make_automatic_name, optimizers)),
        }
        return names

    def creator(self, next_creator: Callable[..., tf.Variable], **arguments: Any) -> tf.Variable:
        """Creates a variable of Keras under its name, in a `tf.variable_creator_scope`."""
        if arguments.get("name") is None:  # A layer's own tf.Variable, which has no Keras path.
            return next_creator(**arguments)
        arguments["name"] = self.name_of(find_variable_path(arguments["name"]))
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
            return self._number_path(scope, f"{self._paths[flat]}/{last[len(flat) + 1 :]}")
        name = self._number_path(scope, last)
        self._paths[path.replace("/", "_")] = name
        return name

    def _number_path(self, scope: str, last: str) -> str:
        parts = scope.split("/") if scope else []
        names = [
            self._numbered.get("/".join(parts[: i + 1]), self._numbered_anywhere.get(part, part))
            for i, part in enumerate(parts)
        ]
        return "/".join([*names, last])

    def _number_below(self, model: keras.Model, scope: str) -> None:
        """Numbers the layers of a model and of the models among them."""
        scope = f"{scope}{model.name}/"
        self._number(map(make_automatic_name, model.layers), scope)
        for layer in model.layers:
            if isinstance(layer, keras.Model):
                self._number_below(layer, scope)

    def _number(self, layers: Iterable[_Named], scope: str) -> None:
        """Numbers the layers of one scope."""
        for name, numbered in _number_names(layers).items():
            self._numbered[f"{scope}{name}"] = numbered


def _number_names(layers: Iterable[_Named]) -> dict[str, str]:
    """Returns automatic names with numbers from zero, in the order of Keras's numbers."""
    numbered: dict[str, str] = {}
    counts: dict[str, int] = {}
    for name, base in sorted(layers, key=_number_in):
        if base is not None:
            count = counts.get(base, 0)
            counts[base] = count + 1
            numbered[name] = f"{base}_{count}" if count else base
    return numbered


def _list_with_nested(model: keras.Model) -> list[keras.Layer]:
    """Returns a model and all its layers. Those of a Functional model are built outside of it."""
    found: list[keras.Layer] = [model]
    for layer in model.layers:
        found += _list_with_nested(layer) if isinstance(layer, keras.Model) else [layer]
    return found


def make_automatic_name(owner: keras.Layer | keras.optimizers.Optimizer) -> _Named:
    """Returns the name of a layer or optimizer, and its base without a number if Keras chose it."""
    return owner.name, find_base_name(type(owner).__name__, owner.name)


def find_base_name(class_name: str, name: str) -> str | None:
    """Returns an automatic name without its number, and None for a name that the user chose."""
    base = re.sub(r"\W+", "", class_name)
    base = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", base)
    base = re.sub("([a-z])([A-Z])", r"\1_\2", base).lower()
    return base if re.fullmatch(rf"{re.escape(base)}(_\d+)?", name) else None


def _number_in(layer: _Named) -> int:
    found = re.search(r"_(\d+)$", layer[0])
    return int(found.group(1)) if found else 0
