"""Linear and deep classifiers and regressors of `tf.contrib.learn`, built on `tf.estimator`.

Losses are means over a batch. Predictions are classes or numbers, and metrics have the names of
2017. Variables have the names of `tf.estimator`.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train.compat.v1 as v1
from estimator_train.legacy.contrib._types import Arrays, Column, Optimizer
from estimator_train.legacy.contrib.layers.columns import ONLY_FEATURE
from estimator_train.legacy.contrib.learn.estimators import LearnEstimator, apply_tf_config
from estimator_train.training.extenders import clip_gradients_by_norm

_MEAN_LOSS = tf.compat.v1.losses.Reduction.SUM_OVER_BATCH_SIZE
_train = tf.compat.v1.train
_BINARY: dict[str, tuple[str, ...]] = {
    "accuracy": ("accuracy", "accuracy/threshold_0.500000_mean"),
    "auc": ("auc",),
    "auc_precision_recall": ("auc_precision_recall",),
    "label/mean": ("labels/actual_label_mean", "accuracy/baseline_label_mean"),
    "prediction/mean": ("labels/prediction_mean",),
    "precision": ("precision/positive_threshold_0.500000_mean",),
    "recall": ("recall/positive_threshold_0.500000_mean",),
}
_CLASSES: dict[str, tuple[str, ...]] = {"accuracy": ("accuracy",)}
_ALWAYS = ("loss", "global_step")
# Arguments of 2017 that are renamed or unused.
_DROPPED_ARGUMENTS = (
    *("_joint_weight", "_joint_weights", "_joint_linear_weights", "embedding_lr_multipliers"),
    *("enable_centered_bias", "fix_global_step_increment_bug", "gradient_clip_norm"),
    *("input_layer_min_slice_size", "weight_column_name"),
)


class _CannedEstimator(LearnEstimator):
    _metric_names: dict[str, tuple[str, ...]] = {}
    _main_output = ""
    _outputs: tuple[str, ...] = ()
    _uses_columns = True

    def __init__(self, feature_engineering_fn: Callable[..., Any] | None, **kwargs: Any) -> None:
        self._feature_engineering_fn = feature_engineering_fn
        super().__init__(**kwargs)

    def get_variable_value(self, name: str) -> np.ndarray:
        """Returns the value of a variable, by its current name or its name of 2017."""
        exists = name in self.get_variable_names()
        return super().get_variable_value(name if exists else _current_variable_name(name))

    def predict_all(
        self, x: Arrays, batch_size: int | None = None, outputs: Sequence[str] | None = None
    ) -> Any:
        """Returns the outputs of all examples as one dict, or those of some keys."""
        return super().predict_all(x, batch_size, outputs or self._outputs)

    def _select_outputs(
        self, predictions: Iterator[Any], outputs: Sequence[str] | None
    ) -> Iterator[Any]:
        converted = (_to_scalars(self._convert_predictions(one)) for one in predictions)
        if outputs:
            return super()._select_outputs(converted, outputs)
        return (one[self._main_output] for one in converted)

    def _convert_results(
        self, results: Mapping[str, Any], metrics: Iterable[Any]
    ) -> dict[str, Any]:
        caller_names = [name[0] if isinstance(name, tuple) else name for name in metrics]
        reported = {name: results[name] for name in (*_ALWAYS, *caller_names)}
        for name, old in self._metric_names.items():
            reported = dict.fromkeys(old, results[name]) | reported
        return reported


class Classifier(_CannedEstimator):
    """Base class of classifiers."""

    _main_output = "classes"
    _outputs = ("classes", "logits", "logistic", "probabilities")

    def __init__(self, label_keys: Sequence[str] | None, n_classes: int, **kwargs: Any) -> None:
        if n_classes < 2:
            raise ValueError("n_classes must be greater than 1.")
        if n_classes == 2 and label_keys is not None:
            raise ValueError("label_keys is not supported for n_classes=2.")
        self._metric_names = _BINARY if n_classes == 2 else _CLASSES
        self._has_label_keys = label_keys is not None
        kwargs.update(n_classes=n_classes, label_vocabulary=label_keys, loss_reduction=_MEAN_LOSS)
        super().__init__(**kwargs)

    def _convert_predictions(self, predictions: Any) -> dict[str, Any]:
        classes = predictions["classes" if self._has_label_keys else "class_ids"][..., 0]
        kept = {key: predictions[key] for key in ("logits", "logistic", "probabilities")
                if key in predictions}  # fmt: skip
        return {**kept, "classes": classes}

    def predict_classes(
        self,
        x: Arrays | None = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """Predicts the class of each example; arguments are those of `predict`."""
        return self.predict(x, input_fn, batch_size, None, as_iterable)

    def predict_proba(
        self,
        x: Arrays | None = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """Predicts class probabilities of each example; arguments are those of `predict`."""
        key = "probabilities"
        converted = (one[key] for one in self.predict(x, input_fn, batch_size, [key]))
        return converted if as_iterable else np.array(list(converted))


class Regressor(_CannedEstimator):
    """Base class of regressors."""

    _main_output = "scores"
    _outputs = ("scores",)

    def __init__(self, label_dimension: int, **kwargs: Any) -> None:
        self._is_scalar = label_dimension == 1
        kwargs.update(label_dimension=label_dimension, loss_reduction=_MEAN_LOSS)
        super().__init__(**kwargs)

    def _convert_predictions(self, predictions: Any) -> dict[str, Any]:
        converted = predictions["predictions"]
        return {"scores": converted[..., 0] if self._is_scalar else converted}

    def predict_scores(
        self,
        x: Arrays | None = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """Predicts the number of each example; arguments are those of `predict`."""
        return self.predict(x, input_fn, batch_size, None, as_iterable)


def _to_scalars(prediction: dict[str, Any]) -> dict[str, Any]:
    """Converts the arrays without dimensions of a prediction to numbers or bytes."""
    return {key: value[()] for key, value in prediction.items()}


def _current_variable_name(name: str) -> str:
    """Returns the name that `tf.estimator` gives a variable of a name of 2017."""
    if name.startswith("dnn/"):
        return re.sub("/biases$", "/bias", re.sub("/weights$", "/kernel", name))
    name = re.sub("^linear/+(.*)(weight)$", r"linear/linear_model/\1\2s", name)
    return name.replace("linear_model/weights", f"linear_model/{ONLY_FEATURE}/weights")


def convert_arguments(given: Mapping[str, Any], **defaults: Callable[[], Any]) -> dict[str, Any]:
    """Converts arguments of 2017 to those of `tf.estimator`.

    Args:
      given: Arguments of a constructor of 2017, with its other local variables.
      **defaults: Function that creates the default of each optimizer argument.
    """
    if given["enable_centered_bias"]:
        raise ValueError("enable_centered_bias=True is not supported: remove the argument.")
    left_out = ("self", "__class__", *_DROPPED_ARGUMENTS)
    arguments = {name: value for name, value in given.items() if name not in left_out}
    arguments.update(
        weight_column=given["weight_column_name"], config=apply_tf_config(given["config"])
    )
    for name, default in defaults.items():
        arguments[name] = _add_clipping(given[name], default, given["gradient_clip_norm"])
    return arguments


def _add_clipping(optimizer: Any, default: Callable[[], Any], clip_norm: float | None) -> Any:
    """Returns the optimizer or the default one, with a maximum norm of the gradients."""
    optimizer = default() if optimizer is None else optimizer
    if clip_norm is None:
        return optimizer
    created = optimizer() if callable(optimizer) else optimizer
    return clip_gradients_by_norm(created, clip_norm)


def create_linear_optimizer_fn(columns: Sequence[Column] | None) -> Callable[[], Any]:
    """Returns the function that creates the optimizer of a linear model of some columns."""
    rate = min(0.2, 1 / math.sqrt(len(columns or ()) or 1))
    return lambda: _train.FtrlOptimizer(rate)


def create_deep_optimizer() -> Optimizer:
    """Creates the optimizer of a deep model."""
    return _train.AdagradOptimizer(0.05)


class LinearClassifier(Classifier, v1.LinearClassifier):
    """Linear classifier; see `tf.estimator.LinearClassifier`. The arguments are those of 2017."""

    def __init__(
        self,
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        _joint_weight: bool = False,
        config: v1.RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        label_keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            **convert_arguments(locals(), optimizer=create_linear_optimizer_fn(feature_columns))
        )


class DNNClassifier(Classifier, v1.DNNClassifier):
    """Deep classifier; see `tf.estimator.DNNClassifier`. The arguments are those of 2017."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: v1.RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(**convert_arguments(locals(), optimizer=create_deep_optimizer))


class LinearRegressor(Regressor, v1.LinearRegressor):
    """Linear regressor; see `tf.estimator.LinearRegressor`. The arguments are those of 2017."""

    def __init__(
        self,
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        _joint_weights: bool = False,
        config: v1.RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(
            **convert_arguments(locals(), optimizer=create_linear_optimizer_fn(feature_columns))
        )


class DNNRegressor(Regressor, v1.DNNRegressor):
    """Deep regressor; see `tf.estimator.DNNRegressor`. The arguments are those of 2017."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: v1.RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        label_dimension: int = 1,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:
        super().__init__(**convert_arguments(locals(), optimizer=create_deep_optimizer))
