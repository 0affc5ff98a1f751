"""Names of metrics and predictions, and types of values, that heads share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

import tensorflow as tf
import tf_keras

TensorLike: TypeAlias = tf.types.experimental.TensorLike
# `MultiHead` takes a dict of labels by the names of its heads.
Labels: TypeAlias = tf.types.experimental.TensorLike | tf.SparseTensor
FeatureTensors: TypeAlias = Mapping[str, tf.Tensor | tf.SparseTensor]
LossFn: TypeAlias = Callable[..., TensorLike]
KerasOptimizer: TypeAlias = tf_keras.optimizers.Optimizer | tf_keras.optimizers.legacy.Optimizer
Optimizer: TypeAlias = KerasOptimizer | tf.compat.v1.train.Optimizer


class MetricKeys:
    """Names of metrics in the result of an evaluation and in event files.

    Those with a `%` are formatted with a threshold, a class number or a class name. A head that
    has a name adds it: "accuracy/NAME".
    """

    LOSS = "loss"
    LOSS_MEAN = "average_loss"
    LOSS_REGULARIZATION = "regularization_loss"

    ACCURACY = "accuracy"
    PRECISION = "precision"
    RECALL = "recall"
    ACCURACY_BASELINE = "accuracy_baseline"
    AUC = "auc"
    AUC_PR = "auc_precision_recall"
    LABEL_MEAN = "label/mean"
    PREDICTION_MEAN = "prediction/mean"

    ACCURACY_AT_THRESHOLD = "accuracy/positive_threshold_%g"
    PRECISION_AT_THRESHOLD = "precision/positive_threshold_%g"
    RECALL_AT_THRESHOLD = "recall/positive_threshold_%g"
    PRECISION_AT_RECALL = "precision_at_recall_%g"
    RECALL_AT_PRECISION = "recall_at_precision_%g"
    SENSITIVITY_AT_SPECIFICITY = "sensitivity_at_specificity_%g"
    SPECIFICITY_AT_SENSITIVITY = "specificity_at_sensitivity_%g"

    PROBABILITY_MEAN_AT_CLASS = "probability_mean/class%d"
    AUC_AT_CLASS = "auc/class%d"
    AUC_PR_AT_CLASS = "auc_precision_recall/class%d"
    PROBABILITY_MEAN_AT_NAME = "probability_mean/%s"
    AUC_AT_NAME = "auc/%s"
    AUC_PR_AT_NAME = "auc_precision_recall/%s"


class PredictionKeys:
    """Names of the tensors in a head's predictions."""

    CLASSES = "classes"
    CLASS_IDS = "class_ids"
    ALL_CLASSES = "all_classes"
    ALL_CLASS_IDS = "all_class_ids"
    LOGISTIC = "logistic"
    LOGITS = "logits"
    PREDICTIONS = "predictions"
    PROBABILITIES = "probabilities"
    TOP_K = "top_k"


class NumericColumn(Protocol):
    """Column of `tf.feature_column.numeric_column`."""

    key: str
    normalizer_fn: Callable[[tf.Tensor], tf.Tensor] | None
    parse_example_spec: Mapping[str, Any]


# Name of the feature with the weights of examples, or its column.
WeightColumn: TypeAlias = str | NumericColumn | None
