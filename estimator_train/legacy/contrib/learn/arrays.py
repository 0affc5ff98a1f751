"""`SKCompat`, which trains on arrays, and the inference of columns from features."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.legacy.contrib._types import Arrays, Column
from estimator_train.legacy.contrib.layers.columns import real_valued_column


class SKCompat:
    """Wrapper with the interface of scikit-learn, which takes arrays only."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(
        self, x: Arrays, y: Arrays, batch_size: int = 128, steps: int | None = None, **kw: Any
    ) -> "SKCompat":
        """Trains the estimator and returns this object."""
        self._estimator.fit(x, y, batch_size=batch_size, steps=steps, **kw)
        return self

    def score(
        self, x: Arrays, y: Arrays, batch_size: int = 128, **arguments: Any
    ) -> dict[str, Any]:
        """Evaluates the estimator and returns the metrics."""
        return self._estimator.evaluate(x, y, batch_size=batch_size, **arguments)

    def predict(
        self, x: Arrays, batch_size: int = 128, outputs: Sequence[str] | None = None
    ) -> Any:
        """Returns the predictions of all examples as an array, or as a dict of arrays."""
        return self._estimator.predict_all(x, batch_size, outputs)


def infer_real_valued_columns_from_input(x: Arrays) -> list[Any]:
    """Creates columns for an array of shape (examples, features), or for a dict of arrays.

    Raises:
      ValueError: A feature is not numeric.
    """
    if isinstance(x, Mapping):
        return [_create_column(name, np.asarray(values)) for name, values in x.items()]
    return [_create_column("", np.asarray(x))]


def infer_real_valued_columns_from_input_fn(input_fn: Callable[[], Any]) -> list[Any]:
    """Creates columns for the features that an input_fn returns, a tensor or a dict of tensors."""
    with tf.Graph().as_default():
        inputs = input_fn()
        features = inputs[0] if isinstance(inputs, tuple) else inputs
        by_name = features if isinstance(features, Mapping) else {"": features}
        return [_create_column(name, values) for name, values in by_name.items()]


def _create_column(name: str, values: np.ndarray | tf.Tensor) -> Column:
    dtype = tf.as_dtype(values.dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise ValueError(f"Feature '{name}' must be numeric, got {dtype.name}: define its column.")
    dimension = values.shape[1] if len(values.shape) > 1 else 1
    return real_valued_column(name, dimension=int(dimension), dtype=dtype)
