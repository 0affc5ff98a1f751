"""Linear and deep classifiers and regressors of `tf.contrib.learn`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train.compat.v1 as v1
from tf_contrib._types import Arrays
from tf_contrib.layers.columns import ONLY_FEATURE
from tf_contrib.learn.estimators import Estimator
from tf_contrib.learn.heads import Head
from tf_contrib.learn.heads.classes import multi_class_head
from tf_contrib.learn.heads.numbers import regression_head
from tf_contrib.learn.model_fns import ModelFnOps
from tf_contrib.learn.networks import (
    DeepPart,
    LinearPart,
    build_deep_model,
    build_linear_model,
)
from tf_contrib.learn.svm_logistic_rnn.linear_sdca import build_sdca_model
from tf_contrib.linear_optimizer import SDCAOptimizer


class CannedEstimator(Estimator):
    """Base class of estimators of feature columns.

    Args:
      build: Function of features by name, labels, mode and config that builds the model.
      model_dir: Directory of the model.
      config: Settings of the run.
      feature_engineering_fn: Function that converts features and labels.
    """

    def __init__(
        self,
        build: Callable[..., ModelFnOps],
        model_dir: str | None,
        config: v1.RunConfig | None,
        feature_engineering_fn: Callable[..., Any] | None,
    ) -> None:
        def model_fn(features: Any, labels: Any, mode: str, config: v1.RunConfig) -> ModelFnOps:
            by_name = features if isinstance(features, Mapping) else {ONLY_FEATURE: features}
            return build(by_name, labels, mode, config)

        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)


class _MainOutput(CannedEstimator):
    """Base class of estimators whose `predict` returns one output unless told otherwise."""

    _main_output = ""
    _outputs: tuple[str, ...] = ()

    def predict_all(
        self, x: Arrays, batch_size: int | None = None, outputs: Sequence[str] | None = None
    ) -> Any:
        """Returns the outputs of all examples as one dict, or those of some keys."""
        return super().predict_all(x, batch_size, outputs or self._outputs)

    def _select_outputs(
        self, predictions: Iterator[Any], outputs: Sequence[str] | None
    ) -> Iterator[Any]:
        if outputs:
            return super()._select_outputs(predictions, outputs)
        return (one[self._main_output] for one in predictions)


class Classifier(_MainOutput):
    """Base class of classifiers."""

    _main_output = "classes"
    _outputs = ("classes", "logits", "logistic", "probabilities")

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


class Regressor(_MainOutput):
    """Base class of regressors."""

    _main_output = "scores"
    _outputs = ("scores",)

    def predict_scores(
        self,
        x: Arrays | None = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """Predicts the number of each example; arguments are those of `predict`."""
        return self.predict(x, input_fn, batch_size, None, as_iterable)


def create_class_head(arguments: Mapping[str, Any]) -> Head:
    """Creates the head of a classifier from the arguments of its constructor."""
    return multi_class_head(
        arguments["n_classes"],
        weight_column_name=arguments["weight_column_name"],
        enable_centered_bias=arguments["enable_centered_bias"],
        label_keys=arguments["label_keys"],
    )


def create_number_head(arguments: Mapping[str, Any]) -> Head:
    """Creates the head of a regressor from the arguments of its constructor."""
    return regression_head(
        weight_column_name=arguments["weight_column_name"],
        label_dimension=arguments["label_dimension"],
        enable_centered_bias=arguments["enable_centered_bias"],
    )


def _prepare_linear(
    head: Head, given: Mapping[str, Any], is_joint: bool, sdca_loss: str | None
) -> tuple[Any, ...]:
    """Returns the arguments of CannedEstimator from those of a linear estimator.

    Args:
      head: Head.
      given: Arguments of the linear estimator.
      is_joint: Whether one variable holds the weights of all columns.
      sdca_loss: Loss of dual coordinate ascent, or None if the estimator does not support it.

    Raises:
      ValueError: The estimator does not support dual coordinate ascent, or not a centered bias.
      AssertionError: Dual coordinate ascent does not support joint weights or several classes.
    """
    columns, optimizer = tuple(given["feature_columns"]), given["optimizer"]
    part = LinearPart(columns, optimizer, is_joint)
    if isinstance(optimizer, SDCAOptimizer):
        _check_sdca(head, given, is_joint, sdca_loss)

    def build(features: Any, labels: Any, mode: str, config: v1.RunConfig) -> ModelFnOps:
        if isinstance(optimizer, SDCAOptimizer) and sdca_loss:
            settings = (columns, optimizer, head, sdca_loss, given["weight_column_name"])
            return build_sdca_model(*settings, features, labels, mode)
        clip_norm = given["gradient_clip_norm"]
        return build_linear_model(part, head, clip_norm, features, labels, mode, config)

    return build, given["model_dir"], given["config"], given["feature_engineering_fn"]


def _check_sdca(
    head: Head, given: Mapping[str, Any], is_joint: bool, sdca_loss: str | None
) -> None:
    if sdca_loss is None:
        raise ValueError("LinearEstimator does not support SDCA optimizer.")
    if given["enable_centered_bias"]:
        raise ValueError("enable_centered_bias is not supported with SDCA")
    if is_joint:
        raise AssertionError("_joint_weight is incompatible with the SDCAOptimizer")
    if head.logits_dimension != 1:
        raise AssertionError("SDCA only applies to binary classification.")


def _prepare_deep(head: Head, given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Returns the arguments of CannedEstimator from those of a deep estimator."""
    part = DeepPart(
        tuple(given["feature_columns"]),
        tuple(given["hidden_units"]),
        given["optimizer"],
        given["activation_fn"],
        given["dropout"],
        given["input_layer_min_slice_size"],
        given["embedding_lr_multipliers"] or {},
    )

    def build(*arguments: Any) -> ModelFnOps:
        return build_deep_model(part, head, given["gradient_clip_norm"], *arguments)

    return build, given["model_dir"], given["config"], given["feature_engineering_fn"]


class LinearClassifier(Classifier):
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
            *_prepare_linear(create_class_head(locals()), locals(), _joint_weight, "logistic_loss")
        )


class DNNClassifier(Classifier):
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
        super().__init__(*_prepare_deep(create_class_head(locals()), locals()))


class LinearRegressor(Regressor):
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
            *_prepare_linear(create_number_head(locals()), locals(), _joint_weights, "squared_loss")
        )


class DNNRegressor(Regressor):
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
        super().__init__(*_prepare_deep(create_number_head(locals()), locals()))


class LinearEstimator(CannedEstimator):
    """Linear estimator with a head; other arguments are those of `LinearClassifier`."""

    def __init__(
        self,
        feature_columns: Sequence[Any],
        head: Head,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        _joint_weights: bool = False,
        config: v1.RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(*_prepare_linear(head, locals(), _joint_weights, None))


class DNNEstimator(CannedEstimator):
    """Deep estimator with a head; other arguments are those of `DNNClassifier`."""

    def __init__(
        self,
        head: Head,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: v1.RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:
        super().__init__(*_prepare_deep(head, locals()))
