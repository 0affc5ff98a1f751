"""Compiles the Keras 3 models that a user's function builds."""

from typing import Any

import keras
import tensorflow as tf

from estimator_train.keras.compiled.compile_arguments import CompileArguments
from estimator_train.keras.compiled.metrics import copy_metric
from estimator_train.keras.keras3.optimizers import OptimizerCopies

_DEFAULT_OPTIMIZER = "rmsprop"  # That of keras.model_fn.


class GivenCompile:
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
