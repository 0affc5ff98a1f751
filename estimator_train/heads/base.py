"""Head: computes loss, metrics, predictions and exports from the logits of a model."""

from __future__ import annotations

import abc
import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.job import convert_on_replica
from estimator_train.estimator_spec import EstimatorSpec, ModeKeys
from estimator_train.estimator_spec.export_outputs import ExportOutput, PredictOutput
from estimator_train.estimator_spec.tpu_spec import TPUEstimatorSpec
from estimator_train.heads.keys import Labels, MetricKeys, Optimizer, TensorLike
from estimator_train.heads.training import build_train_op

Metrics = dict[str, Any]
EvalMetrics = tuple[Callable[..., Metrics], dict[str, Any]]

PREDICT_SIGNATURE = "predict"
_MODES = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)


class Head(abc.ABC):
    """Last part of a model, which makes an `EstimatorSpec` from labels and logits.

    A model_fn computes logits and passes them to a head:

        def model_fn(features, labels, mode):
            logits = tf_keras.layers.Dense(head.logits_dimension)(features["x"])
            return head.create_estimator_spec(features, mode, logits, labels, ...)

    A subclass implements the abstract members; `loss`, `predictions`, `metrics` and
    `update_metrics` also work in eager code.
    """

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """The head's name, part of the names of metrics, summaries and operations; or None."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """Size of the last dimension of the logits."""

    @property
    @abc.abstractmethod
    def loss_reduction(self) -> str:
        """Reduction of the losses of a batch: a `tf_keras.losses.Reduction` value."""

    @abc.abstractmethod
    def loss(
        self,
        labels: Labels,
        logits: TensorLike,
        features: Mapping[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> tf.Tensor:
        """Returns the loss to train with, a scalar that contains the regularization losses.

        Args:
          labels: Labels of the batch; see the head's class for their shape and type.
          logits: Float tensor of shape [D0, D1, ... DN, logits_dimension].
          features: The batch's features, in which the head finds its weights.
          mode: A `ModeKeys` value.
          regularization_losses: Scalars that are added to the loss.
        """

    @abc.abstractmethod
    def predictions(
        self, logits: TensorLike, keys: Sequence[str] | None = None
    ) -> dict[str, tf.Tensor]:
        """Returns predictions by their `PredictionKeys`.

        Args:
          logits: Float tensor of shape [D0, D1, ... DN, logits_dimension].
          keys: Which ones; by default all that the head has.
        """

    @abc.abstractmethod
    def metrics(self, regularization_losses: Sequence[tf.Tensor] | None = None) -> Metrics:
        """Returns new tf_keras metrics by name.

        Args:
          regularization_losses: Losses for which a metric is added, if not None.
        """

    @abc.abstractmethod
    def update_metrics(
        self,
        eval_metrics: Metrics,
        features: Mapping[str, Any],
        logits: TensorLike,
        labels: Labels,
        mode: str | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> Metrics:
        """Adds a batch to metrics that `metrics` made, and returns them; see `loss`."""

    def create_estimator_spec(
        self,
        features: Mapping[str, Any],
        mode: str,
        logits: TensorLike,
        labels: Labels | None = None,
        optimizer: Optimizer | None = None,
        trainable_variables: Sequence[tf.Variable] | None = None,
        train_op_fn: Callable[[tf.Tensor], Any] | None = None,
        update_ops: Sequence[tf.Operation] | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> EstimatorSpec:
        """Returns the EstimatorSpec for a model_fn to return.

        Args:
          features: The batch's features.
          mode: A `ModeKeys` value.
          logits: As for `loss`.
          labels: As for `loss`; not needed in PREDICT.
          optimizer: A tf_keras optimizer, in TRAIN only. A legacy one counts its steps in its
            `iterations`; set these to the global step to count it.
          trainable_variables: The variables it trains.
          train_op_fn: Alternative to an optimizer: a function of the loss that returns the
            training operation and increments the global step.
          update_ops: Operations that run with a training step, such as moving averages.
          regularization_losses: Scalars that are added to the loss.

        Raises:
          ValueError: mode is unknown; labels, logits or weights have a wrong shape, type or
            range; in TRAIN both or none of optimizer and train_op_fn are given, or
            trainable_variables are missing.
        """
        create = self._create_tpu_estimator_spec if self._has_tpu_spec else self._create_spec
        spec = create(
            features,
            mode,
            logits,
            labels=labels,
            optimizer=optimizer,
            trainable_variables=trainable_variables,
            train_op_fn=train_op_fn,
            update_ops=update_ops,
            regularization_losses=regularization_losses,
        )
        return spec.as_estimator_spec()

    def _create_tpu_estimator_spec(self, *arguments: Any, **named: Any) -> TPUEstimatorSpec:
        """Returns the TPUEstimatorSpec from which `create_estimator_spec` makes its result.

        Programs override it. Its arguments are those of `create_estimator_spec`.

        Raises:
          NotImplementedError: The head has no such spec, as in tf.estimator.
        """
        if not self._has_tpu_spec:
            raise NotImplementedError("TPUEstimatorSpec not available for this model head.")
        return self._create_spec(*arguments, **named)

    def _create_spec(
        self,
        features: Mapping[str, Any],
        mode: str,
        logits: TensorLike,
        labels: Labels | None = None,
        optimizer: Optimizer | None = None,
        trainable_variables: Sequence[tf.Variable] | None = None,
        train_op_fn: Callable[[tf.Tensor], Any] | None = None,
        update_ops: Sequence[tf.Operation] | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> TPUEstimatorSpec:
        if mode not in _MODES:
            raise ValueError(f"mode must be one of {_MODES}. Given: {mode!r}.")
        with tf.name_scope(tf.compat.as_str(self.name or "head")) as scope:
            if mode == ModeKeys.PREDICT:
                return self._make_prediction_spec(features, logits)
            predictions = convert_on_replica(self.predictions)(logits)
            loss, metrics = self._compute_loss_and_metrics(
                labels, logits, features, mode, regularization_losses
            )
        if metrics is not None:
            function, tensors = metrics
            in_scope = _in_scope(function, scope)
            return TPUEstimatorSpec(mode, predictions, loss, eval_metrics=(in_scope, tensors))
        with tf.name_scope(scope) if self._trains_in_scope else contextlib.nullcontext():
            train_op = self._train_op(loss, optimizer, trainable_variables, train_op_fn, update_ops)
        self._write_summaries(loss, regularization_losses)
        return TPUEstimatorSpec(mode, predictions, loss, train_op)

    # Whether `_create_tpu_estimator_spec` makes the result of `create_estimator_spec`.
    _has_tpu_spec = True
    # Whether variables of an optimizer are named after the head.
    _trains_in_scope = False

    @property
    def _summary_name(self) -> str | None:
        """Suffix of the tags of summaries."""
        return self.name

    def _compute_loss_and_metrics(
        self,
        labels: Labels,
        logits: TensorLike,
        features: Mapping[str, Any],
        mode: str,
        regularization_losses: Sequence[tf.Tensor] | None,
    ) -> tuple[tf.Tensor, EvalMetrics | None]:
        """Returns the loss of a spec and, in EVAL, its metrics: a function and its tensors."""
        loss = convert_on_replica(self.loss)(labels, logits, features, mode, regularization_losses)
        if mode != ModeKeys.EVAL:
            return loss, None

        def compute(labels: Labels, logits: TensorLike) -> Metrics:
            return convert_on_replica(self.update_metrics)(
                convert_on_replica(self.metrics)(regularization_losses=regularization_losses),
                features=features,
                logits=logits,
                labels=labels,
                regularization_losses=regularization_losses,
            )

        return loss, (compute, {"labels": labels, "logits": logits})

    def _make_prediction_spec(
        self, features: Mapping[str, Any], logits: TensorLike
    ) -> TPUEstimatorSpec:
        """Returns the spec of PREDICT."""
        predictions = convert_on_replica(self.predictions)(logits)
        outputs = self._export_outputs(predictions)
        return TPUEstimatorSpec(ModeKeys.PREDICT, predictions, export_outputs=outputs)

    def _export_outputs(self, predictions: dict[str, tf.Tensor]) -> dict[str, ExportOutput]:
        """Returns the signatures of a SavedModel; one of several is the default signature."""
        return {PREDICT_SIGNATURE: PredictOutput(predictions)}

    def _train_op(
        self,
        loss: tf.Tensor,
        optimizer: Optimizer,
        trainable_variables: Sequence[tf.Variable] | None,
        train_op_fn: Callable[[tf.Tensor], Any] | None,
        update_ops: Sequence[tf.Operation] | None,
    ) -> Any:
        """Returns the operation of one training step."""
        return build_train_op(
            loss, optimizer, trainable_variables, train_op_fn, update_ops, self.loss_reduction
        )

    def _write_summaries(
        self, loss: tf.Tensor, regularization_losses: Sequence[tf.Tensor] | None
    ) -> None:
        """Adds the training loss to the summaries."""
        with tf.name_scope(""):
            tf.compat.v1.summary.scalar(add_head_name(MetricKeys.LOSS, self._summary_name), loss)
            if regularization_losses is not None:
                tag = add_head_name(MetricKeys.LOSS_REGULARIZATION, self._summary_name)
                tf.compat.v1.summary.scalar(tag, tf.add_n(regularization_losses))


def _in_scope(function: Callable[..., Metrics], scope: str) -> Callable[..., Metrics]:
    """Returns a function that adds its operations to a name scope."""

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Metrics:
        with tf.name_scope(scope):
            return function(*arguments, **named)

    return call


def add_head_name(key: str, name: str | None) -> str:
    """Returns a metric's key with the name of its head."""
    return f"{key}/{name}" if name else key
