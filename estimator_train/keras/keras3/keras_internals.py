"""Private names of Keras 3, each with the reason."""

import collections
import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import keras

# Names and seeds are state of the thread, and Keras has no public way to read and restore them.
from keras.src.backend.common import global_state

# The path of a variable is known before its creation only here.
from keras.src.backend.common.name_scope import current_path

# Clones of the user's own model may run its Python lambdas; the public switch has no way back.
from keras.src.saving.serialization_lib import SafeModeScope

_ISOLATED = ("object_name_uids", "global_seed_generator")


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


def list_all_layers(model: keras.Model) -> list[keras.Layer]:
    """Returns a model, its layers and the layers inside of those; `layers` has the direct ones."""
    return list(model._flatten_layers())


def find_learning_rate(optimizer: keras.optimizers.Optimizer) -> Any:
    """Returns the variable, schedule or function; the public property has its current value."""
    return getattr(optimizer, "inner_optimizer", optimizer)._learning_rate


def build_symbolically(model: keras.Model, data: Any) -> None:
    """Makes all variables of a model, as `fit` does under a strategy before the first step."""
    model._symbolic_build(data_batch=data)
