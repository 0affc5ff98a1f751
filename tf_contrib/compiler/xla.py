"""Stand-in for `tf.contrib.compiler.xla`."""

from collections.abc import Callable
from typing import Any

ModelFn = Callable[..., Any]


def estimator_model_fn(target_model_fn: ModelFn | None = None) -> Any:
    """Returns the model_fn, which XLA compiled in TensorFlow 1; the results are the same.

    Args:
      target_model_fn: The model_fn; None: return a decorator.
    """
    return (lambda model_fn: model_fn) if target_model_fn is None else target_model_fn
