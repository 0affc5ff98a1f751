"""SequentialHeadWrapper: a head for every step of sequences of different lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.estimator_spec import EstimatorSpec, ModeKeys
from estimator_train.heads.base import Head, Metrics
from estimator_train.heads.keys import Labels, Optimizer, TensorLike
from estimator_train.heads.multi import MultiHead


class SequentialHeadWrapper(Head):
    """Head that applies another head to each step of padded sequences, without the padding.

    Logits are of shape [batch, padded length, logits_dimension]. The features hold a mask of
    shape [batch, padded length], true where a step is not padding. Labels, and the features named
    in `feature_columns`, are dense and padded alike, or sparse with one value for each step.
    Losses and metrics count every step as one example.

    Args:
      static_head: The head of one step; not a `MultiHead`.
      sequence_length_mask: Name of the feature with the mask. In PREDICT the mask is among
        the predictions under that name.
      feature_columns: Name, or names, of features that the static head reads, such as its
        weights.

    Raises:
      TypeError: A name is not a string.
      ValueError: static_head is a MultiHead.
    """

    def __init__(
        self,
        static_head: Head,
        sequence_length_mask: str = "sequence_length_mask",
        feature_columns: str | Iterable[str] | None = None,
    ):
        if not isinstance(sequence_length_mask, str):
            raise TypeError(
                "`sequence_mask` column must be a string. "
                f"Given type: {type(sequence_length_mask)}."
            )
        if isinstance(static_head, MultiHead):
            raise ValueError("`MultiHead` is not supported with `SequentialHeadWrapper`.")
        self._static_head = static_head
        self._mask_key = sequence_length_mask
        self._feature_keys = _validate_names(feature_columns)

    @property
    def static_head(self) -> Head:
        """The head of one step."""
        return self._static_head

    @property
    def input_sequence_mask_key(self) -> str:
        """Name of the feature with the mask."""
        return self._mask_key

    @property
    def name(self) -> str | None:
        """The static head's name with "_sequential", or None."""
        return f"{self._static_head.name}_sequential" if self._static_head.name else None

    @property
    def logits_dimension(self) -> int:
        """The static head's logits dimension."""
        return self._static_head.logits_dimension

    @property
    def loss_reduction(self) -> str:
        """The static head's loss reduction."""
        return self._static_head.loss_reduction

    def loss(
        self,
        labels: Labels,
        logits: TensorLike,
        features: Mapping[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> tf.Tensor:
        """Returns the static head's loss of all steps; see `Head.loss`."""
        labels, logits, features = self._flatten_steps(labels, logits, features or {})
        return self._static_head.loss(labels, logits, features, mode, regularization_losses)

    def predictions(
        self, logits: TensorLike, keys: Sequence[str] | None = None
    ) -> dict[str, tf.Tensor]:
        """Returns the static head's predictions, also for padding; see `Head.predictions`."""
        return self._static_head.predictions(logits, **({"keys": keys} if keys else {}))

    def metrics(self, regularization_losses: Sequence[tf.Tensor] | None = None) -> Metrics:
        """Returns the static head's metrics; see `Head.metrics`."""
        return self._static_head.metrics(regularization_losses=regularization_losses)

    def update_metrics(  # type: ignore[override]
        self,
        eval_metrics: Metrics,
        features: Mapping[str, Any],
        logits: TensorLike,
        labels: Labels,
        regularization_losses: Sequence[tf.Tensor] | None = None,
        mode: str | None = None,
    ) -> Metrics:
        """Adds all steps to the static head's metrics; see `Head.update_metrics`."""
        labels, logits, features = self._flatten_steps(labels, logits, features)
        return self._static_head.update_metrics(
            eval_metrics, features, logits, labels, regularization_losses=regularization_losses
        )

    _has_tpu_spec = False

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
        """Returns the static head's EstimatorSpec; see `Head.create_estimator_spec`."""
        if mode == ModeKeys.PREDICT:
            spec = self._static_head.create_estimator_spec(features, mode, logits)
            mask = self._mask(features)
            return spec._replace(predictions={**spec.predictions, self._mask_key: mask})
        labels, logits, features = self._flatten_steps(labels, logits, features)
        return self._static_head.create_estimator_spec(
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

    def _mask(self, features: Mapping[str, Any]) -> tf.Tensor:
        if self._mask_key not in features:
            raise ValueError(
                f"The provided sequence_length_mask key `{self._mask_key}` should be included in "
                f"the features dictionary, but was not found. Found keys: {list(features)}."
            )
        mask = tf.cast(features[self._mask_key], tf.bool)
        if mask.shape.rank not in (None, 2):
            raise ValueError(
                f"Mask is expected to have two dimensions, got {mask.shape.rank} instead."
            )
        return mask

    def _flatten_steps(
        self, labels: Labels, logits: TensorLike, features: Mapping[str, Any]
    ) -> tuple[Any, tf.Tensor, dict[str, Any]]:
        """Returns labels, logits and the named features of all steps, one after the other."""
        mask = self._mask(features)
        found = {}
        for key in self._feature_keys:
            if key not in features:
                raise ValueError(f"`{key}` column expected in features dictionary.")
            found[key] = _flatten(features[key], mask)
        labels = None if labels is None else _flatten(labels, mask)
        return labels, _flatten(logits, mask), found


def _flatten(values: Any, mask: tf.Tensor) -> tf.Tensor:
    """Returns values of shape [batch, padded length, ...], or sparse values, as [steps, ...].

    Values of shape [batch, padded length] become [steps, 1].
    """
    if isinstance(values, tf.SparseTensor):
        sizes = values.shape[2:] if values.shape.rank else tf.TensorShape([])
        known = sizes.is_fully_defined()
        flat = tf.reshape(
            values.values,
            [-1, *sizes] if known else tf.concat([[-1], values.dense_shape[2:]], axis=0),
        )
    else:
        flat = tf.boolean_mask(tf.convert_to_tensor(values), mask)
    return tf.expand_dims(flat, -1) if flat.shape.rank == 1 else flat


def _validate_names(columns: str | Iterable[str] | None) -> list[str]:
    if columns is None:
        return []
    if isinstance(columns, str):
        return [columns]
    if not isinstance(columns, Iterable):
        raise TypeError(
            "`feature_columns` must be either a string or an iterable of strings got "
            f"{type(columns)} instead."
        )
    names = list(columns)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"Column must a string. Given type: {type(name)}.")
    return names
