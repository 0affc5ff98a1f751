"""Linear and deep classifiers and regressors of `tf.contrib.learn`, by those of `tf.estimator`.

Their losses are means over a batch. Predictions are classes or numbers, evaluations have the
names of 2017; variables have those of `tf.estimator`.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train.compat.v1 as v1
from estimator_train.legacy.contrib.layers.columns import ONLY_FEATURE
from estimator_train.legacy.contrib.learn.estimators import Learning, configured
from estimator_train.training.extenders import clip_gradients_by_norm

_MEAN = tf.compat.v1.losses.Reduction.SUM_OVER_BATCH_SIZE
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
# Arguments of 2017 that have become others, or do nothing.
_GONE = (
    *("_joint_weight", "_joint_weights", "_joint_linear_weights", "embedding_lr_multipliers"),
    *("enable_centered_bias", "fix_global_step_increment_bug", "gradient_clip_norm"),
    *("input_layer_min_slice_size", "weight_column_name"),
)


class _Canned(Learning):
    _names: dict[str, tuple[str, ...]] = {}
    _main = ""
    _outputs: tuple[str, ...] = ()
    _by_columns = True

    def __init__(self, feature_engineering_fn: Any, **kwargs: Any) -> None:
        self._feature_engineering_fn = feature_engineering_fn
        super().__init__(**kwargs)

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable, by its name or by the one that it had in 2017."""
        known = name in self.get_variable_names()
        return super().get_variable_value(name if known else _today(name))

    def predict_all(self, x: Any, batch_size: int | None = None, outputs: Any = None) -> Any:
        """All outputs of all examples together, or those of some keys."""
        return super().predict_all(x, batch_size, outputs or self._outputs)

    def _chosen(self, predictions: Iterator[Any], outputs: Any) -> Iterator[Any]:
        found = (_plain(self._predictions(one)) for one in predictions)
        if outputs:
            return super()._chosen(found, outputs)
        return (one[self._main] for one in found)

    def _reported(self, results: Any, metrics: Any) -> Any:
        own = [name[0] if isinstance(name, tuple) else name for name in metrics]
        kept = {name: results[name] for name in (*_ALWAYS, *own)}
        for name, old in self._names.items():
            kept = dict.fromkeys(old, results[name]) | kept
        return kept


class Classifier(_Canned):
    """What all classifiers have."""

    _main = "classes"
    _outputs = ("classes", "logits", "logistic", "probabilities")

    def __init__(self, label_keys: Any, n_classes: int, **kwargs: Any) -> None:
        if n_classes < 2:
            raise ValueError("n_classes must be greater than 1.")
        if n_classes == 2 and label_keys is not None:
            raise ValueError("label_keys is not supported for n_classes=2.")
        self._names = _BINARY if n_classes == 2 else _CLASSES
        self._by_keys = label_keys is not None
        kwargs.update(n_classes=n_classes, label_vocabulary=label_keys, loss_reduction=_MEAN)
        super().__init__(**kwargs)

    def _predictions(self, predictions: Any) -> Any:
        classes = predictions["classes" if self._by_keys else "class_ids"][..., 0]
        kept = {key: predictions[key] for key in ("logits", "logistic", "probabilities")
                if key in predictions}  # fmt: skip
        return {**kept, "classes": classes}

    def predict_classes(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The class of each example; arguments are as for `predict`."""
        return self.predict(x, input_fn, batch_size, None, as_iterable)

    def predict_proba(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The probabilities of the classes of each example; arguments are as for `predict`."""
        key = "probabilities"
        found = (one[key] for one in self.predict(x, input_fn, batch_size, [key]))
        return found if as_iterable else np.array(list(found))


class Regressor(_Canned):
    """What all regressors have."""

    _main = "scores"
    _outputs = ("scores",)

    def __init__(self, label_dimension: int, **kwargs: Any) -> None:
        self._one = label_dimension == 1
        kwargs.update(label_dimension=label_dimension, loss_reduction=_MEAN)
        super().__init__(**kwargs)

    def _predictions(self, predictions: Any) -> Any:
        found = predictions["predictions"]
        return {"scores": found[..., 0] if self._one else found}

    def predict_scores(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The number that each example gets; arguments are as for `predict`."""
        return self.predict(x, input_fn, batch_size, None, as_iterable)


def _plain(prediction: dict[str, Any]) -> dict[str, Any]:
    """The same, and what has no shape as a number or as bytes."""
    return {key: value[()] for key, value in prediction.items()}


def _today(name: str) -> str:
    """The name that `tf.estimator` gives a variable, by the name of 2017."""
    if name.startswith("dnn/"):
        return re.sub("/biases$", "/bias", re.sub("/weights$", "/kernel", name))
    name = re.sub("^linear/+(.*)(weight)$", r"linear/linear_model/\1\2s", name)
    return name.replace("linear_model/weights", f"linear_model/{ONLY_FEATURE}/weights")


def of_today(given: Mapping[str, Any], **defaults: Callable[[], Any]) -> dict[str, Any]:
    """The arguments of `tf.estimator`.

    Args:
      given: Those of 2017, the variables of a constructor.
      **defaults: What makes each optimizer where none is given.
    """
    if given["enable_centered_bias"]:
        raise ValueError("enable_centered_bias=True: there is no centered bias here.")
    left_out = ("self", "__class__", *_GONE)
    kept = {name: value for name, value in given.items() if name not in left_out}
    kept.update(weight_column=given["weight_column_name"], config=configured(given["config"]))
    for name, default in defaults.items():
        kept[name] = _clipped(given[name], default, given["gradient_clip_norm"])
    return kept


def _clipped(optimizer: Any, default: Callable[[], Any], clip_norm: float | None) -> Any:
    """The optimizer, or the default one; with a bound of the gradients' norm."""
    optimizer = default() if optimizer is None else optimizer
    if clip_norm is None:
        return optimizer
    made = optimizer() if callable(optimizer) else optimizer
    return clip_gradients_by_norm(made, clip_norm)


def linear(columns: Any) -> Callable[[], Any]:
    """From columns to the function that makes the optimizer of their linear model."""
    rate = min(0.2, 1 / math.sqrt(len(columns or ()) or 1))
    return lambda: _train.FtrlOptimizer(rate)


def deep() -> Any:
    """The optimizer of a deep model."""
    return _train.AdagradOptimizer(0.05)


class LinearClassifier(Classifier, v1.LinearClassifier):
    """See `tf.estimator.LinearClassifier`; arguments are those of 2017."""

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
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        label_keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(**of_today(locals(), optimizer=linear(feature_columns)))


class DNNClassifier(Classifier, v1.DNNClassifier):
    """See `tf.estimator.DNNClassifier`; arguments are those of 2017."""

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
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(**of_today(locals(), optimizer=deep))


class LinearRegressor(Regressor, v1.LinearRegressor):
    """See `tf.estimator.LinearRegressor`; arguments are those of 2017."""

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
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(**of_today(locals(), optimizer=linear(feature_columns)))


class DNNRegressor(Regressor, v1.DNNRegressor):
    """See `tf.estimator.DNNRegressor`; arguments are those of 2017."""

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
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        label_dimension: int = 1,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:
        super().__init__(**of_today(locals(), optimizer=deep))
