"""Private names of tf.estimator's modules of heads."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

import estimator_train as est
from estimator_train.canned.arguments import make_classifier_head
from estimator_train.heads import checks, losses, sequential
from estimator_train.heads.base import add_head_name
from estimator_train.heads.classification import Classes
from estimator_train.heads.keys import Labels, MetricKeys, Optimizer, TensorLike, WeightColumn
from estimator_train.heads.losses import WeightedHead
from estimator_train.heads.training import build_train_op
from estimator_train.heads.v1 import V1BinaryClassHead, V1MultiClassHead, V1RegressionHead

DEFAULT_SERVING_KEY = _DEFAULT_SERVING_KEY = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
CLASSIFY_SERVING_KEY = _CLASSIFY_SERVING_KEY = "classification"
REGRESS_SERVING_KEY = _REGRESS_SERVING_KEY = "regression"
PREDICT_SERVING_KEY = _PREDICT_SERVING_KEY = "predict"

SequentialHeadWrapper = sequential.SequentialHeadWrapper
_BinaryLogisticHeadWithSigmoidCrossEntropyLoss = V1BinaryClassHead
_MultiClassHeadWithSoftmaxCrossEntropyLoss = V1MultiClassHead
_RegressionHeadWithMeanSquaredErrorLoss = V1RegressionHead


class LossSpec(NamedTuple):
    """Loss of a batch for training, the losses of its examples, their weights and labels."""

    training_loss: Any
    unreduced_loss: Any
    weights: Any
    processed_labels: Any


def binary_or_multi_class_head(
    n_classes: int,
    weight_column: WeightColumn,
    label_vocabulary: Sequence[str] | None,
    loss_reduction: str,
) -> est.Head:
    """Returns the head of a classifier of TensorFlow 2."""
    return make_classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)


def _binary_logistic_or_multi_class_head(
    n_classes: int,
    weight_column: WeightColumn,
    label_vocabulary: Sequence[str] | None,
    loss_reduction: str,
) -> est.Head:
    return make_classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction, v1=True)


check_logits_final_dim = _check_logits_final_dim = checks.validate_logits
validate_loss_fn_args = _validate_loss_fn_args = losses.validate_loss_fn


def check_dense_labels_match_logits_and_reshape(
    labels: Labels, logits: tf.Tensor, expected_labels_dimension: int
) -> tf.Tensor:
    """Returns labels of shape [D0, D1, ... DN, expected_labels_dimension]."""
    return checks.validate_dense_labels(
        labels, logits, expected_labels_dimension, "logits_shape: {logits}."
    )


_check_dense_labels_match_logits_and_reshape = check_dense_labels_match_logits_and_reshape


def get_weights_and_check_match_logits(
    features: Mapping[str, Any],
    weight_column: WeightColumn,
    logits: tf.Tensor,
    allow_per_logit_weights: bool = False,
) -> tf.Tensor | float:
    """Returns the weights of the losses of a batch; 1.0 if there is no weight column."""
    dimension = logits.shape[-1] if allow_per_logit_weights else 1
    weights = checks.get_weights(weight_column, features, logits, dimension)
    return 1.0 if weights is None else weights


_get_weights_and_check_match_logits = get_weights_and_check_match_logits


def all_class_ids(logits: tf.Tensor, n_classes: int) -> tf.Tensor:
    """Returns the numbers of all classes for each example."""
    return Classes(n_classes, None).all_ids(logits)


def all_classes(
    logits: tf.Tensor, n_classes: int, label_vocabulary: Sequence[str] | None = None
) -> tf.Tensor:
    """Returns the names of all classes for each example."""
    return Classes(n_classes, label_vocabulary).all_names(logits)


def classification_output(
    scores: tf.Tensor, n_classes: int, label_vocabulary: Sequence[str] | None = None
) -> est.export.ClassificationOutput:
    """Returns the output of a classifier in a SavedModel."""
    names = Classes(n_classes, label_vocabulary).all_names(scores)
    return est.export.ClassificationOutput(scores=scores, classes=names)


_all_class_ids, _all_classes = all_class_ids, all_classes
_classification_output = classification_output


def create_eval_metrics_tuple(
    fn: Callable[..., Any], kwargs: Mapping[str, Any]
) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Returns `eval_metrics` of a TPUEstimatorSpec: a function, and its arguments but for None."""
    given = {name: value for name, value in kwargs.items() if value is not None}
    missing = dict.fromkeys(kwargs.keys() - given.keys())
    return lambda **tensors: fn(**tensors, **missing), given


_create_eval_metrics_tuple = create_eval_metrics_tuple


def create_estimator_spec_train_op(
    head_name: str | None,
    optimizer: Optimizer | None = None,
    trainable_variables: Sequence[tf.Variable] | None = None,
    train_op_fn: Callable[[tf.Tensor], Any] | None = None,
    update_ops: Sequence[tf.Operation] | None = None,
    regularized_training_loss: TensorLike | None = None,
    loss_reduction: str = tf.keras.losses.Reduction.SUM_OVER_BATCH_SIZE,
) -> tf.Operation:
    """Returns the operation that trains one step."""
    with tf.compat.v1.name_scope(head_name, "head"):
        return build_train_op(
            regularized_training_loss,
            optimizer,
            trainable_variables,
            train_op_fn,
            update_ops,
            loss_reduction,
        )


def create_estimator_spec_summary(
    regularized_training_loss: tf.Tensor,
    regularization_losses: Sequence[tf.Tensor] | None = None,
    summary_key_fn: Callable[[str], str] | None = None,
) -> None:
    """Adds the losses of training to the summaries."""
    key = summary_key_fn or str
    with tf.name_scope(""):
        tf.compat.v1.summary.scalar(key(MetricKeys.LOSS), regularized_training_loss)
        if regularization_losses is not None:
            total = tf.add_n(regularization_losses)
            tf.compat.v1.summary.scalar(key(MetricKeys.LOSS_REGULARIZATION), total)


def _summary_key(head_name: str | None, val: str) -> str:
    return add_head_name(val, head_name)


def _append_update_ops(train_op: tf.Operation) -> tf.Operation:
    updates = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
    return tf.group(train_op, *updates) if updates else train_op


class _PrivateMembers(WeightedHead):
    """Private members of the heads of tf.estimator, which subclasses of libraries call."""

    _classes: Classes

    @property
    def _label_vocabulary(self) -> Sequence[str] | None:
        vocabulary = self._classes.vocabulary
        return None if vocabulary is None else vocabulary.names

    @property
    def _n_classes(self) -> Any:
        return self._classes.count

    def _processed_labels(self, logits: tf.Tensor, labels: Labels) -> tf.Tensor:
        return self._process_labels(labels, logits)

    def _unweighted_loss_and_weights(
        self, logits: tf.Tensor, processed_labels: tf.Tensor, features: Mapping[str, Any]
    ) -> tuple[tf.Tensor, tf.Tensor | float]:
        if self._loss_fn is None:
            unweighted = self._compute_losses(processed_labels, logits)
        else:
            unweighted = losses.call_loss_fn(
                self._loss_fn,
                processed_labels,
                logits,
                features,
                self._loss_reduction,
                self._loss_dimension,
            )
        dimension = self._loss_dimension
        weights = checks.get_weights(self._weight_column, features, logits, dimension)
        return unweighted, 1.0 if weights is None else weights

    def _summary_key(self, key: str) -> str:
        return add_head_name(key, self.name)


class BinaryClassHead(_PrivateMembers, est.BinaryClassHead):
    """`BinaryClassHead` with the private members that subclasses call."""


class MultiClassHead(_PrivateMembers, est.MultiClassHead):
    """`MultiClassHead` with the private members that subclasses call."""


class MultiLabelHead(_PrivateMembers, est.MultiLabelHead):
    """`MultiLabelHead` with the private members that subclasses call."""
