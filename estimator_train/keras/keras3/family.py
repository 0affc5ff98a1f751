"""The protocol `Family` for models of Keras 3, with their checkpoints."""

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import keras
import numpy as np
import tensorflow as tf

from estimator_train.keras.build_settings import BuildSettings, CompileArguments, copy_metric
from estimator_train.keras.keras3 import steps
from estimator_train.keras.keras3.blueprint import (
    Keras3Blueprint,
    OptimizerCopies,
    is_layered,
    list_model_variables,
)
from estimator_train.keras.keras3.keras_internals import VariableNames
from estimator_train.keras.keras3.model_fn import Keras3ModelFn
from estimator_train.keras.keras3.steps import build_model, name_keras_variables
from estimator_train.keras.matching import SavedVariables, match_names
from estimator_train.keras.model_io import Structure
from estimator_train.run_config import RunConfig

__all__ = [
    "load_variables",
    "match_variables",
    "predict_checkpoint",
    "read_built",
    "read_compiled",
    "read_trained",
    "write_initial_weights",
    "write_state_after_fit",
]
_DEFAULT_OPTIMIZER = "rmsprop"  # That of keras.model_fn.
Variables: TypeAlias = dict[str, keras.Variable]
_LOG = tf.get_logger()
_SEED = "/seed_generator_state"
_GLOBAL_STEP = tf.compat.v1.GraphKeys.GLOBAL_STEP


def read_compiled(
    model: keras.Model,
    custom_objects: Mapping[str, Any] | None,
    checkpoint_format: str | None,
    **reports: Any,
) -> Keras3ModelFn:
    """Makes the model_fn of a compiled model; checkpoint_format has no effect.

    Raises:
      ValueError: The model is not compiled, or cannot be made again in a graph.
    """
    return Keras3ModelFn(model, custom_objects, **reports)


read_trained = read_compiled


def read_built(
    model: keras.Model, build: Callable[[], keras.Model], settings: BuildSettings
) -> Keras3ModelFn:
    """Makes the model_fn of a model that a user's function built.

    Raises:
      ValueError: The settings have several optimizers, or the model is compiled twice or not.
    """
    if settings.compiled.has_several_optimizers:
        raise ValueError(
            f"keras.model_fn(optimizer={settings.compiled.optimizer!r}) trains models of tf_keras "
            f"only, and '{model.name}' is of Keras 3. Write a train_step with these optimizers."
        )
    given = _GivenCompile(settings.compiled, settings.accumulated_steps)
    given.compile(model)
    return Keras3ModelFn(
        model, settings.custom_objects, lambda: given.compile(build()), **settings.reports
    )


def write_initial_weights(model_fn: Keras3ModelFn, config: RunConfig) -> None:
    """Writes nothing: the graph's initializers have the weights of the model."""


class _GivenCompile:
    """Arguments of `Model.compile` that are given with the function that builds a model.

    Construct it in eager code.

    Args:
      compiled: The arguments.
      accumulated_steps: Number of steps whose mean gradient makes one update.
    """

    def __init__(self, compiled: CompileArguments, accumulated_steps: int) -> None:
        given = dict(vars(compiled))
        changes: dict[str, Any] = {}
        if accumulated_steps > 1:
            changes["gradient_accumulation_steps"] = accumulated_steps
        if given["optimizer"] == _DEFAULT_OPTIMIZER and not changes:
            given["optimizer"] = None
        self._given = {name: value for name, value in given.items() if value is not None}
        self._optimizer = OptimizerCopies(compiled.optimizer, **changes)

    def compile(self, model: keras.Model) -> keras.Model:
        """Compiles a new model; one that its function has compiled stays as it is.

        Raises:
          ValueError: The model is compiled both by its function and by arguments, or by none.
        """
        if model.compiled:
            if self._given:
                raise ValueError(
                    f"The Keras model '{model.name}' is compiled by model_builder, and "
                    f"keras.model_fn is given {sorted(self._given)} too. Give them in one place."
                )
            return model
        if not self._given:
            raise ValueError(
                f"The Keras model '{model.name}' has not been compiled yet. Call "
                "model.compile(...) in model_builder, or give a loss and an optimizer to "
                "keras.model_fn."
            )
        given = tf.nest.map_structure(copy_metric, self._given)
        model.compile(**{**given, "optimizer": self._optimizer.make()})
        return model


def name_saved_variables(model: keras.Model) -> tuple[Variables, Variables]:
    """Maps names in checkpoints to a model's variables, and to those of its optimizer.

    Makes the variables of the optimizer, if it has none. A model that is not compiled has no
    optimizer.
    """
    optimizer = model.optimizer if model.compiled else None
    if optimizer is not None and not optimizer.built:
        optimizer.build(model.trainable_variables)
    of_model = list_model_variables(model)
    variables = [*of_model, *(optimizer.variables if optimizer is not None else [])]
    if is_layered(model):
        blueprint = Keras3Blueprint(model)
        with tf.Graph().as_default(), name_keras_variables(blueprint):
            made = blueprint.make()
            in_graph = list_model_variables(made)
            if optimizer is not None:
                made.optimizer.build(made.trainable_variables)
                in_graph += made.optimizer.variables
            names = [variable.value.op.name for variable in in_graph]
    else:
        known = VariableNames.from_eager_model(model)
        names = [known.name_of(variable.path) for variable in variables]
    named = list(zip(names, variables, strict=True))
    return dict(named[: len(of_model)]), dict(named[len(of_model) :])


def load_variables(model: keras.Model, saved: SavedVariables, matched: Mapping[str, str]) -> None:
    """Loads a checkpoint into a Keras 3 model.

    Args:
      model: The model.
      saved: The variables of the checkpoint.
      matched: The result of `match_variables`.
    """
    of_model, of_optimizer = name_saved_variables(model)
    for name, variable in of_model.items():
        if name in matched:
            variable.assign(saved.value(matched[name]))
    _load_optimizer(of_optimizer, saved)


def match_variables(
    model: keras.Model, saved: SavedVariables, name_map: Mapping[str, str] | None
) -> dict[str, str]:
    """Maps the names of a model's variables, in its order, to names in a checkpoint.

    Seeds that the checkpoint lacks are left out.

    Raises:
      ValueError: A variable is not in the checkpoint.
    """
    of_model, _ = name_saved_variables(model)
    shapes = {
        name: tuple(variable.shape)
        for name, variable in of_model.items()
        if name in saved.keys or not name.endswith(_SEED)
    }
    return match_names(model.name, shapes, saved, name_map, {})


def _load_optimizer(variables: Variables, saved: SavedVariables) -> None:
    """Loads the optimizer's variables; warns of those that the checkpoint lacks."""
    absent = []
    for name, variable in variables.items():
        if saved.shapes.get(name) == tuple(variable.shape):
            variable.assign(saved.value(name))
        elif name.endswith("/iteration") and saved.global_step is not None:
            variable.assign(saved.global_step)
        elif not name.endswith("/learning_rate"):
            absent.append(name)
    if absent:
        _LOG.warning("%s has no optimizer state for %s.", saved.path, ", ".join(absent[:5]))


def write_state_after_fit(model: keras.Model, model_fn: Keras3ModelFn, config: RunConfig) -> str:
    """Writes the weights, the optimizer's variables and the count of steps to a checkpoint.

    Args:
      model: A compiled model that was trained, or at least built.
      model_fn: Not used.
      config: A RunConfig, with the directory of checkpoints.

    Returns:
      The checkpoint's path prefix.

    Raises:
      ValueError: The model has no variables yet.
    """
    if not model.built:
        raise ValueError(f"The Keras model '{model.name}' has no variables yet: train it first.")
    of_model, of_optimizer = name_saved_variables(model)
    values = {name: v.value for name, v in {**of_model, **of_optimizer}.items()}
    step = max(int(v.numpy()) for v in of_optimizer.values() if v.name == "iteration")
    values[_GLOBAL_STEP] = tf.constant(step, tf.int64)
    path = os.path.join(config.model_dir, f"model.ckpt-{step}")
    tf.raw_ops.SaveV2(
        prefix=path,
        tensor_names=list(values),
        shape_and_slices=[""] * len(values),
        tensors=[tf.convert_to_tensor(value) for value in values.values()],
    )
    return path


def predict_checkpoint(
    model: keras.Model, x: Structure, saved: SavedVariables, names: Mapping[str, str]
) -> list[np.ndarray]:
    """Returns the outputs of a model for one batch.

    Args:
      model: The eager model. It does not change.
      x: Arrays, as the model takes them.
      saved: The variables of the checkpoint.
      names: Maps names of the model's variables to names in the checkpoint.
    """
    blueprint = Keras3Blueprint(model)
    with tf.Graph().as_default():
        x = tf.nest.map_structure(tf.constant, x)
        built = build_model(
            blueprint,
            lambda made: steps.make_variables(made, made.predict_step, (x,)),
            is_trained=False,
        )
        outputs = tf.nest.flatten(steps.predict_step(built.model, x))
        variables = [variable.value for variable in list_model_variables(built.model)]
        saver = tf.compat.v1.train.Saver(
            {saved.keys[names[v.op.name]]: v for v in variables if v.op.name in names}
        )
        initializers = [
            tf.compat.v1.global_variables_initializer(),
            tf.compat.v1.local_variables_initializer(),
            tf.compat.v1.tables_initializer(),
        ]
        with tf.compat.v1.Session() as session:
            session.run(initializers, built.feeds)
            saver.restore(session, saved.path)
            return session.run(outputs)
