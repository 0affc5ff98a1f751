"""Makes a user's Keras 3 model again, with variables of the graph that it is made in."""

import contextlib
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from estimator_train.engine.job import list_argument_names
from estimator_train.keras.build_settings import copy_metric
from estimator_train.keras.copied_layers import (
    copy_config,
    keep_vocabulary_sizes,
    read_constants,
    read_vocabularies,
    set_constants,
    set_vocabularies,
)
from estimator_train.keras.keras3.keras_internals import (
    find_base_name,
    find_learning_rate,
    list_all_layers,
    list_metric_variables,
    read_compile_arguments,
)
from estimator_train.keras.model_io import Structure

_COMPILE_NAMES = (
    "loss",
    "loss_weights",
    "metrics",
    "weighted_metrics",
    "jit_compile",
)
_LAMBDA = "function of "  # Names the function of a Lambda layer, with the name of the layer.
Config = dict[str, Any]


def check_model(model: keras.Model) -> None:
    """Checks that an Estimator can train a model.

    Raises:
      ValueError: The backend is not TensorFlow, the model is not compiled, or it must run eagerly.
    """
    backend = keras.backend.backend()
    if backend != "tensorflow":
        raise ValueError(
            "Estimators train Keras 3 models with the TensorFlow backend, and Keras uses "
            f"{backend}. Set the environment variable KERAS_BACKEND=tensorflow before keras is "
            "imported."
        )
    if not getattr(model, "compiled", False):
        raise ValueError(
            f"The Keras model '{model.name}' has not been compiled yet. Call model.compile(...) "
            "before you make an Estimator of it."
        )
    if model.run_eagerly:
        raise ValueError(
            f"The Keras model '{model.name}' is compiled with run_eagerly=True, and an Estimator "
            "runs graphs. Compile it with run_eagerly=False, and write eager code, such as "
            ".numpy(), with keras.ops or TensorFlow."
        )


@contextlib.contextmanager
def explain_graph_errors(model: keras.Model, has_labels: bool) -> Iterator[None]:
    """Explains errors of eager code, and of labels that are missing, inside this context.

    Args:
      model: The model.
      has_labels: Whether the input has labels.
    """
    try:
        yield
    except ValueError as error:
        if has_labels or "None values not supported" not in str(error):
            raise
        raise ValueError(
            f"The input has no labels, and the loss of the Keras model '{model.name}' needs them: "
            f"return (features, labels) from input_fn. {error}"
        ) from error
    except (AttributeError, NotImplementedError, TypeError) as error:
        text = str(error)
        if "numpy" not in text and "eager" not in text.lower():
            raise
        raise ValueError(
            f"The Keras model '{model.name}' runs eager code, such as .numpy(), and an Estimator "
            "runs graphs. Write it with keras.ops or TensorFlow; tf.py_function runs Python in a "
            f"graph. {type(error).__name__}: {text}"
        ) from error


class OptimizerCopies:
    """Makes copies of an optimizer. Construct it in eager code: it reads the learning rate.

    Args:
      optimizer: An optimizer of Keras 3, or a name or config of one.
      **changes: Arguments of the optimizer to change.
    """

    def __init__(self, optimizer: Any, **changes: Any) -> None:
        optimizer = keras.optimizers.get(optimizer)
        self._class = type(optimizer)
        self._config = {**optimizer.get_config(), **changes}
        base = find_base_name(self._class.__name__, optimizer.name)
        if base is not None:
            self._config["name"] = base  # Which other optimizers the process made does not matter.
        rate = find_learning_rate(optimizer)
        if "learning_rate" in self._config and not isinstance(rate, keras.Variable):
            self._config["learning_rate"] = rate  # The user's own schedule or function.

    def make(self) -> keras.optimizers.Optimizer:
        """Makes a new optimizer in the default graph, or in eager code."""
        return self._class.from_config(dict(self._config))


class Keras3Blueprint:
    """Makes a model again in the default graph, compiled like the user's if that is.

    A Functional or Sequential model is made from its config, with the user's own functions. A
    subclassed model is made by the function that built it, or else from its config. Construct it
    in eager code: configs hold values of variables.

    Args:
      model: The user's model. It is read and never changed.
      custom_objects: Names to classes and functions that the config needs, or None.
      build: Function that built and compiled the model, or None.

    Attributes:
      model: The user's model.
      has_given_names: Whether layers get the names of the user's layers, by the config.
      values: The values of the user's variables; empty if the model has no variables yet.

    Raises:
      ValueError: The model cannot be made again.
    """

    def __init__(
        self,
        model: keras.Model,
        custom_objects: Mapping[str, Any] | None = None,
        build: Callable[[], keras.Model] | None = None,
    ) -> None:
        self.model = model
        self.has_given_names = is_layered(model) and (model.built or build is None)
        self._build = None if self.has_given_names else build
        self._objects = {**dict(_list_own_objects(model)), **(custom_objects or {})}
        self._config: Config = {}
        self._own_compile_config: Config | None = None
        if self._build is None:
            self._config = _read_config(model)
            self._constants = read_constants(list_all_layers(model))
            if model.compiled:
                self._read_compile()
        self.values = [variable.numpy() for variable in list_model_variables(model)]

    def make(self) -> keras.Model:
        """Makes the model in the default graph."""
        if self._build is not None:
            return self._build()
        with (
            keras.saving.custom_object_scope(self._objects),
            keep_vocabulary_sizes(keras.layers),
        ):
            model = type(self.model).from_config(copy_config(self._config))
            set_constants(list_all_layers(model), self._constants)
            if self._own_compile_config is not None:
                model.compile_from_config(copy_config(self._own_compile_config))
            elif self.model.compiled:
                model.compile(**self._make_compile_arguments())
        return model

    def fits(self, model: keras.Model) -> bool:
        """Returns whether the user's values have the shapes of a model that was made."""
        shapes = [tuple(variable.shape) for variable in list_model_variables(model)]
        return bool(self.values) and shapes == [np.shape(value) for value in self.values]

    def _read_compile(self) -> None:
        if type(self.model).compile is not keras.Model.compile:
            self._own_compile_config = _read_own_compile_config(self.model)
            return
        given = read_compile_arguments(self.model)
        self._compile_arguments = {name: given[name] for name in _COMPILE_NAMES if name in given}
        # With its scale of the loss, which compile() adds by the precision at that time.
        self._optimizer = OptimizerCopies(self.model.optimizer)

    def _make_compile_arguments(self) -> dict[str, Any]:
        return {
            **tf.nest.map_structure(copy_metric, self._compile_arguments),
            "optimizer": self._optimizer.make(),
            "auto_scale_loss": False,
        }


def is_layered(model: keras.Model) -> bool:
    """Returns whether a model is Functional or Sequential, and its config holds its layers."""
    return isinstance(model, keras.Sequential) or hasattr(model, "operations")


def list_model_variables(model: keras.Model) -> list[keras.Variable]:
    """Returns the variables of a model that checkpoints have: all but those of metrics."""
    of_metrics = {id(variable) for variable in list_metric_variables(model)}
    return [variable for variable in model.variables if id(variable) not in of_metrics]


def _read_config(model: keras.Model) -> Config:
    """Returns the config of a model, with the functions of its Lambda layers.

    Raises:
      ValueError: A subclassed model has no config.
    """
    try:
        config = model.get_config()
    except NotImplementedError as error:
        raise ValueError(
            f"The Keras model {type(model).__name__} cannot be made again in an Estimator's graph: "
            "it is subclassed and has no config. Give the function that builds it to "
            "keras.model_fn(build), or define get_config()."
        ) from error
    if not is_layered(model) and type(model).get_config is keras.Model.get_config:
        # Keras adds arguments of Model that a constructor need not take.
        known = list_argument_names(type(model))
        config = {name: value for name, value in config.items() if name in known}
    set_vocabularies(config, read_vocabularies(list_all_layers(model)))
    for part in _list_dicts(config):
        if part.get("class_name") == "Lambda":
            name = f"{_LAMBDA}{part['config']['name']}"
            part["config"]["function"] = {
                "class_name": "function",
                "config": name,
                "module": None,
                "registered_name": name,
            }
    return config


def _read_own_compile_config(model: keras.Model) -> Config:
    """Returns the config of a model's own compile().

    Raises:
      ValueError: The model does not define it.
    """
    if type(model).get_compile_config is keras.Model.get_compile_config:
        raise ValueError(
            f"{type(model).__name__} has its own compile(), whose arguments cannot be read from "
            "the model. Give the function that builds and compiles the model to "
            "keras.model_fn(build), or define get_compile_config() and compile_from_config()."
        )
    config = model.get_compile_config()
    for part in _list_dicts(config):
        inner = part.get("config")
        if part.get("module") == "keras.optimizers" and isinstance(inner, dict):
            inner["name"] = find_base_name(part["class_name"], inner["name"]) or inner["name"]
    return config


def _list_own_objects(model: keras.Model) -> Iterator[tuple[str, Any]]:
    """Yields the names and objects of classes and functions of the user in a model."""
    for layer in list_all_layers(model):
        if isinstance(layer, keras.layers.Lambda):
            yield f"{_LAMBDA}{layer.name}", layer.function
        for value in (layer, *vars(layer).values()):
            is_function = isinstance(value, types.FunctionType)
            owner = value if is_function else type(value)
            is_of_user = str(owner.__module__).partition(".")[0] != "keras"
            if is_of_user and (is_function or hasattr(value, "get_config")):
                yield owner.__name__, owner


def _list_dicts(config: Structure) -> Iterator[Config]:
    """Yields all dicts within a config."""
    values = config.values() if isinstance(config, Mapping) else config
    if isinstance(config, dict):
        yield config
    if isinstance(config, (dict, list, tuple)):
        for value in values:
            yield from _list_dicts(value)
