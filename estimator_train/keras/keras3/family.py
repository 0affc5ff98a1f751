"""The protocol `Family` for models of Keras 3."""

from collections.abc import Callable, Mapping
from typing import Any

import keras
import tensorflow as tf

from estimator_train.keras.build_settings import BuildSettings, CompileArguments, copy_metric
from estimator_train.keras.keras3.blueprint import (
    OptimizerCopies,
)
from estimator_train.keras.keras3.checkpoints import (
    load_variables,
    match_variables,
    predict_checkpoint,
    write_state_after_fit,
)
from estimator_train.keras.keras3.model_fn import Keras3ModelFn
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
