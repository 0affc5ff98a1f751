"""Private names of tf.estimator that scripts import."""

import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

import estimator_train as est
from estimator_train.canned.arguments import V1Choice
from estimator_train.canned.specs import dnn_logit_fn_builder, linear_logit_fn_builder
from estimator_train.heads.keys import MetricKeys, PredictionKeys
from estimator_train.heads.v1 import V1BinaryClassHead, V1MultiClassHead, V1RegressionHead

__all__ = [
    "EstimatorV2",
    "LOSS_METRIC_KEY",
    "MetricKeys",
    "PredictionKeys",
    "fn_args",
    "parse_input_fn_result",
]

LOSS_METRIC_KEY = "loss"
AVERAGE_LOSS_METRIC_KEY = "average_loss"
EstimatorV2 = est.Estimator

_binary_logistic_head_with_sigmoid_cross_entropy_loss = V1BinaryClassHead
_multi_class_head_with_softmax_cross_entropy_loss = V1MultiClassHead
_regression_head = V1RegressionHead
_regression_head_with_mean_squared_error_loss = V1RegressionHead
_dnn_logit_fn_builder = dnn_logit_fn_builder
_linear_logit_fn_builder = linear_logit_fn_builder


def get_optimizer_instance(opt: Any, learning_rate: float | None = None) -> Any:
    """Returns the optimizer that an argument of a canned estimator describes.

    Args:
      opt: The name of an optimizer, an optimizer, or a function that returns one.
      learning_rate: Learning rate of an optimizer that is given by its name.

    Raises:
      ValueError: `opt` is an unknown name, a name without a learning rate, or of another type.
    """
    if isinstance(opt, str) and not learning_rate:
        raise ValueError(f"learning_rate must be specified when opt is a string, as it is: {opt}.")
    return V1Choice(opt, learning_rate or 0.0).make()


def fn_args(function: Callable[..., Any]) -> tuple[str, ...]:
    """Returns the names of a function's arguments."""
    return tuple(inspect.signature(function).parameters)


class _HeadType(type):
    """Metaclass that makes `isinstance` accept every head of this package as a `_Head`."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return super().__instancecheck__(instance) or (
            cls is _Head and isinstance(instance, est.Head)
        )


class _Head(metaclass=_HeadType):
    """Base class of v1 heads; it has no abstract methods."""

    def create_estimator_spec(self, *args: Any, **kwargs: Any) -> Any:
        """Converts the subclass's TPUEstimatorSpec to an EstimatorSpec."""
        return self._create_tpu_estimator_spec(*args, **kwargs).as_estimator_spec()

    def _create_tpu_estimator_spec(self, *args: Any, **kwargs: Any) -> Any:
        del args, kwargs
        raise NotImplementedError("TPUEstimatorSpec not available for this model head.")


class _DatasetInitializerHook(tf.compat.v1.train.SessionRunHook):
    """Hook that initializes the iterator of a dataset in each new session."""

    def __init__(self, iterator: tf.compat.v1.data.Iterator) -> None:
        self._initializer = iterator.initializer

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        del coord
        session.run(self._initializer)


def parse_input_fn_result(result: Any) -> tuple[Any, Any, list[Any]]:
    """Returns the features, labels and hooks of an input_fn's result.

    Args:
      result: A dataset, (features, labels), or features alone.

    Raises:
      ValueError: `result` is a tuple or list whose length is not 2.
    """
    hooks = []
    if isinstance(result, tf.data.Dataset):
        iterator = tf.compat.v1.data.make_initializable_iterator(result)
        hooks.append(_DatasetInitializerHook(iterator))
        result = iterator.get_next()
    if not isinstance(result, (list, tuple)):
        return result, None, hooks
    if len(result) != 2:
        raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
    return result[0], result[1], hooks


def _load_global_step_from_checkpoint_dir(checkpoint_dir: str) -> int:
    """Returns the step of the latest checkpoint in a directory; 0 without a checkpoint."""
    try:
        reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(checkpoint_dir))
        return int(reader.get_tensor("global_step"))
    except Exception:  # tf.estimator 2.15 returns 0 after any error.
        return 0
