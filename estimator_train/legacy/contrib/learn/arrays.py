"""Arrays in place of input functions: `SKCompat`, and the columns that arrays have."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.legacy.contrib.layers.columns import real_valued_column


class SKCompat:
    """An estimator that takes arrays alone, as those of scikit-learn."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(
        self, x: Any, y: Any, batch_size: int = 128, steps: int | None = None, **kw: Any
    ) -> Any:
        """Trains; returns itself."""
        self._estimator.fit(x, y, batch_size=batch_size, steps=steps, **kw)
        return self

    def score(self, x: Any, y: Any, batch_size: int = 128, **arguments: Any) -> Any:
        """Evaluates."""
        return self._estimator.evaluate(x, y, batch_size=batch_size, **arguments)

    def predict(self, x: Any, batch_size: int = 128, outputs: Any = None) -> Any:
        """The predictions of all examples, by their keys if these have some."""
        return self._estimator.predict_all(x, batch_size, outputs)


def infer_real_valued_columns_from_input(x: Any) -> list[Any]:
    """The columns of features: of an array with shape (examples, features), or a dict of such.

    Raises:
      ValueError: Some are no numbers.
    """
    if isinstance(x, Mapping):
        return [_column(name, np.asarray(values)) for name, values in x.items()]
    return [_column("", np.asarray(x))]


def infer_real_valued_columns_from_input_fn(input_fn: Callable[[], Any]) -> list[Any]:
    """The columns of the features of an input_fn, tensors or a dict of such."""
    with tf.Graph().as_default():
        given = input_fn()
        features = given[0] if isinstance(given, tuple) else given
        named = features if isinstance(features, Mapping) else {"": features}
        return [_column(name, values) for name, values in named.items()]


def _column(name: str, values: Any) -> Any:
    kind = tf.as_dtype(values.dtype)
    if not kind.is_floating and not kind.is_integer:
        raise ValueError(f"Features '{name}' are no numbers, but {kind.name}. Define their column.")
    dimension = values.shape[1] if len(values.shape) > 1 else 1
    return real_valued_column(name, dimension=int(dimension), dtype=kind)
