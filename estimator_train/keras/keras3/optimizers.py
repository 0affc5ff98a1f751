"""Copies of Keras 3 optimizers, for other graphs."""

from typing import Any

import keras

from estimator_train.keras.keras3.keras_internals import find_learning_rate
from estimator_train.keras.keras3.variable_names import find_base_name


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
