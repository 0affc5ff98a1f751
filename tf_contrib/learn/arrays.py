"""`SKCompat`, which trains on arrays, and the inference of columns from features."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tf_contrib._types import Arrays
from tf_contrib.layers.columns.transforming import infer_real_valued_columns


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
    return infer_real_valued_columns(tf.nest.map_structure(np.asarray, x))


def infer_real_valued_columns_from_input_fn(input_fn: Callable[[], Any]) -> list[Any]:
    """Creates columns for the features that an input_fn returns, a tensor or a dict of tensors."""
    with tf.Graph().as_default():
        inputs = input_fn()
        return infer_real_valued_columns(inputs[0] if isinstance(inputs, tuple) else inputs)
