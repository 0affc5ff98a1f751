"""MultiHead: several heads on one model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.estimator_spec import ModeKeys
from estimator_train.estimator_spec.export_outputs import ExportOutput, PredictOutput
from estimator_train.estimator_spec.tpu_spec import TPUEstimatorSpec
from estimator_train.heads import checks, losses
from estimator_train.heads.base import PREDICT_SIGNATURE, EvalMetrics, Head, Metrics, add_head_name
from estimator_train.heads.classification import DEFAULT_SIGNATURE
from estimator_train.heads.keys import Labels, MetricKeys, TensorLike
from estimator_train.optimizers.base import SCOPE


class MultiHead(Head):
    """Several named heads, for a model of several objectives.

    Labels are a dict by the names of the heads. Logits are such a dict, or one tensor that
    concatenates the logits of the heads in the last dimension. The loss is the weighted sum
    of the heads' losses. Predictions are named by pairs (head, key), and every head has its own
    signatures in a SavedModel, "HEAD/SIGNATURE"; the first head's one is the default.

    Args:
      heads: The heads, with different names.
      head_weights: The weight of each head's loss; by default 1.

    Raises:
      ValueError: There are no heads, a name is missing or not unique, or the numbers of heads and
        head_weights differ.
    """

    def __init__(self, heads: Iterable[Head], head_weights: Sequence[float] | None = None):
        self._heads = tuple(heads or ())
        if not self._heads:
            raise ValueError(f"Must specify heads. Given: {heads}")
        if head_weights and len(head_weights) != len(self._heads):
            raise ValueError(
                "heads and head_weights must have the same size. "
                f"Given len(heads): {len(self._heads)}. "
                f"Given len(head_weights): {len(head_weights)}."
            )
        self._head_weights = tuple(head_weights or ())
        for head in self._heads:
            if not head.name:
                raise ValueError(f"All given heads must have name specified. Given: {head}")
        names = self._names
        if len(set(names)) != len(names):
            raise ValueError(f"All given heads must have different names. Given: {names}")

    @property
    def name(self) -> str:
        """The names of the heads, joined by underscores."""
        return "_".join(self._names)

    @property
    def logits_dimension(self) -> int:
        """The sum of the heads' logits dimensions."""
        return sum(head.logits_dimension for head in self._heads)

    @property
    def loss_reduction(self) -> str:
        """The loss reduction of all heads.

        Raises:
          ValueError: They have different ones.
        """
        found = [head.loss_reduction for head in self._heads]
        if len(set(found)) > 1:
            raise ValueError(
                f"The loss_reduction must be the same for different heads. Given: {found}"
            )
        return found[0]

    def loss(
        self,
        labels: Labels,
        logits: TensorLike,
        features: Mapping[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> tf.Tensor:
        """Returns the weighted sum of the heads' losses; see `Head.loss`."""
        by_head = self._compute_losses(labels, logits, features, mode)
        return self._merge_losses(by_head, regularization_losses)

    def _compute_loss_and_metrics(
        self,
        labels: Labels,
        logits: TensorLike,
        features: Mapping[str, Any],
        mode: str,
        regularization_losses: Sequence[tf.Tensor] | None,
    ) -> tuple[tf.Tensor, EvalMetrics | None]:
        """Returns loss and metrics; in TRAIN also adds each head's loss to the summaries."""
        if mode != ModeKeys.TRAIN:
            return super()._compute_loss_and_metrics(
                labels, logits, features, mode, regularization_losses
            )
        by_head = self._compute_losses(labels, logits, features, mode)
        with tf.name_scope(""):
            for head, loss in zip(self._heads, by_head, strict=True):
                tf.compat.v1.summary.scalar(add_head_name(MetricKeys.LOSS, head.name), loss)
        return self._merge_losses(by_head, regularization_losses), None

    def _merge_losses(
        self, by_head: Sequence[tf.Tensor], regularization_losses: Sequence[tf.Tensor] | None
    ) -> tf.Tensor:
        """Returns the weighted sum of the heads' losses."""
        weights = self._head_weights or (1.0,) * len(self._heads)
        with tf.name_scope("merge_losses"):
            weighted = [loss * weight for loss, weight in zip(by_head, weights, strict=True)]
            return losses.add_regularization(tf.add_n(weighted), regularization_losses)

    def predictions(  # type: ignore[override]
        self, logits: TensorLike, keys: Sequence[str] | None = None
    ) -> dict[tuple[str, str], tf.Tensor]:
        """Returns all predictions of all heads by (head name, key).

        Args:
          logits: Dict of the heads' logits, or one tensor of all logits.
          keys: Not used.
        """
        by_head = self._split(logits)
        return {
            (name, key): tensor
            for name, head in zip(self._names, self._heads, strict=True)
            for key, tensor in self._call_in_scope(head.predictions, name, by_head[name]).items()
        }

    def metrics(self, regularization_losses: Sequence[tf.Tensor] | None = None) -> Metrics:
        """Returns new metrics of the losses; `update_metrics` adds those of the heads."""
        names = [add_head_name(MetricKeys.LOSS, name) for name in self._names]
        if regularization_losses is not None:
            names.insert(0, add_head_name(MetricKeys.LOSS_REGULARIZATION, self.name))
        return {name: tf_keras.metrics.Mean(name) for name in names}

    def update_metrics(  # type: ignore[override]
        self,
        eval_metrics: Metrics,
        features: Mapping[str, Any],
        logits: TensorLike,
        labels: Labels,
        regularization_losses: Sequence[tf.Tensor] | None = None,
        mode: str | None = None,
    ) -> Metrics:
        """Adds a batch to the metrics; creates the metrics of the heads for the first batch."""
        if regularization_losses is not None:
            total = tf.add_n(regularization_losses)
            eval_metrics[add_head_name(MetricKeys.LOSS_REGULARIZATION, self.name)].update_state(
                total
            )
        by_head = self._split(logits)
        head_losses = self._compute_losses(labels, by_head, features, None)
        for name, head, loss in zip(self._names, self._heads, head_losses, strict=True):
            eval_metrics[add_head_name(MetricKeys.LOSS, name)].update_state(loss)
            metrics = {key: eval_metrics.get(key, made) for key, made in head.metrics().items()}
            eval_metrics.update(head.update_metrics(metrics, features, by_head[name], labels[name]))
        return eval_metrics

    _has_tpu_spec = False

    def _train_op(self, *arguments: Any) -> Any:
        """Returns the operation of one training step; see `Head._train_op`.

        The optimizer's variables have the names of tf.estimator, which opens the scope once for
        each head before the step: "training_2" with two heads.
        """
        for _ in self._heads:
            with tf.name_scope(SCOPE):
                pass
        return super()._train_op(*arguments)

    def _make_prediction_spec(
        self, features: Mapping[str, Any], logits: TensorLike
    ) -> TPUEstimatorSpec:
        """Returns the spec of PREDICT, with predictions and signatures named by head."""
        by_head = self._split(logits)
        predictions: dict[tuple[str, str], tf.Tensor] = {}
        outputs: dict[str, ExportOutput] = {}
        for name, head in zip(self._names, self._heads, strict=True):
            spec = head.create_estimator_spec(features, ModeKeys.PREDICT, by_head[name])
            predictions.update({(name, key): value for key, value in spec.predictions.items()})
            signatures = dict(spec.export_outputs or {})
            default = signatures.pop(DEFAULT_SIGNATURE)
            outputs.setdefault(DEFAULT_SIGNATURE, default)
            outputs[name] = default
            outputs.update({f"{name}/{key}": output for key, output in signatures.items()})
        outputs[PREDICT_SIGNATURE] = PredictOutput(predictions)
        return TPUEstimatorSpec(ModeKeys.PREDICT, predictions, export_outputs=outputs)

    @property
    def _summary_name(self) -> None:
        return None

    @property
    def _names(self) -> list[str]:
        return [str(head.name) for head in self._heads]

    def _call_in_scope(self, function: Callable[..., Any], name: str, *arguments: Any) -> Any:
        with tf.name_scope(name):
            return function(*arguments)

    def _compute_losses(
        self,
        labels: Labels,
        logits: TensorLike,
        features: Mapping[str, Any] | None,
        mode: str | None,
    ) -> list[tf.Tensor]:
        """Returns the heads' losses before their weights."""
        if not isinstance(checks.require_labels(labels), dict):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        self._check_complete(labels, "labels")
        by_head = self._split(logits)
        return [
            self._call_in_scope(head.loss, name, labels[name], by_head[name], features, mode)
            for name, head in zip(self._names, self._heads, strict=True)
        ]

    def _split(self, logits: TensorLike) -> dict[str, tf.Tensor]:
        """Returns the logits by the names of the heads."""
        if isinstance(logits, dict):
            self._check_complete(logits, "logits")
            return logits
        logits = tf.convert_to_tensor(logits)
        sizes = [head.logits_dimension for head in self._heads]
        if logits.shape.rank and logits.shape[-1] not in (None, sum(sizes)):
            raise ValueError(
                f"Could not split logits of shape {logits.shape.as_list()} among the heads with "
                f"individual logits dimensions: {sizes}. The last dimension of the logits "
                f"tensor should equal {sum(sizes)} but is {logits.shape[-1]}."
            )
        with tf.name_scope("split_logits"):
            return dict(zip(self._names, tf.split(logits, sizes, axis=-1), strict=True))

    def _check_complete(self, values: Mapping[str, Any], subject: str) -> None:
        missing = [name for name in self._names if name not in values]
        if missing:
            raise ValueError(f"{subject} has missing values for head(s): {missing}")
