"""Head of `tf.contrib.learn` that joins several heads."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import Features, Scope
from tf_contrib.learn.heads import (
    Head,
    SingleHead,
    TrainOpFn,
    no_op_train_fn,
)
from tf_contrib.learn.keys import ModeKeys
from tf_contrib.learn.model_fns import ModelFnOps


class _MultiHead(Head):
    def __init__(self, heads: Sequence[SingleHead], loss_weights: Sequence[float]) -> None:
        self._heads, self._loss_weights = heads, loss_weights

    @property
    def logits_dimension(self) -> int:
        return sum(head.logits_dimension for head in self._heads)

    def create_model_fn_ops(
        self,
        features: Features,
        mode: str,
        labels: Any = None,
        train_op_fn: TrainOpFn | None = None,
        logits: Any = None,
        logits_input: tf.Tensor | None = None,
        scope: Scope | None = None,
    ) -> ModelFnOps:
        """Returns the joint result of all heads; see `Head`.

        Predictions have keys of the head's name and the head's key. Logits are one tensor, or a
        dict of a tensor for each head's name.
        """
        if (logits is None) == (logits_input is None):
            raise ValueError("Exactly one of logits and logits_input must be given.")
        if mode == ModeKeys.TRAIN and train_op_fn is None:
            raise ValueError("train_op_fn is missing: training needs it.")
        parts: Sequence[tf.Tensor | None] = [None] * len(self._heads)
        if isinstance(logits, Mapping):
            parts = [logits[head.head_name] for head in self._heads]
        elif logits is not None:
            parts = tf.split(logits, [head.logits_dimension for head in self._heads], 1)
        every = [
            head.create_model_fn_ops(
                features, mode, labels, no_op_train_fn, part, logits_input, scope
            )
            for head, part in zip(self._heads, parts, strict=True)
        ]
        metrics = {key: metric for ops in every for key, metric in ops.eval_metric_ops.items()}
        named = list(zip([head.head_name for head in self._heads], every, strict=True))
        if mode == ModeKeys.TRAIN:
            loss = self._join_losses(every)
            operations = [ops.train_op for ops in every]
            assert train_op_fn is not None
            with tf.compat.v1.name_scope("train_op"):
                operations.append(train_op_fn(loss))
            return ModelFnOps(mode, None, loss, tf.group(*operations), metrics)
        predictions = {
            (name, key): tensor for name, ops in named for key, tensor in ops.predictions.items()
        }
        if mode == ModeKeys.INFER:
            alternatives = {k: v for ops in every for k, v in ops.output_alternatives.items()}
            return ModelFnOps(mode, predictions, output_alternatives=alternatives)
        return ModelFnOps(mode, predictions, self._join_losses(every), None, metrics)

    def _join_losses(self, every: Sequence[ModelFnOps]) -> tf.Tensor:
        pairs = zip(every, self._loss_weights, strict=True)
        return tf.add_n([ops.loss * weight for ops, weight in pairs])


def multi_head(heads: Sequence[SingleHead], loss_weights: Sequence[float] | None = None) -> Head:
    """Creates a head of several heads, whose logits follow each other.

    Args:
      heads: Heads with different names.
      loss_weights: Factors of the losses of the heads; by default 1.

    Raises:
      ValueError: There is not a weight for each head, or a head has no name.
    """
    if loss_weights is not None and len(loss_weights) != len(heads):
        raise ValueError(f"{len(heads)} heads need as many loss_weights, got {loss_weights}.")
    for head in heads:
        if not getattr(head, "head_name", None):
            raise ValueError(f"Each head needs a head_name, and {head} has none.")
    return _MultiHead(heads, loss_weights or [1.0] * len(heads))
