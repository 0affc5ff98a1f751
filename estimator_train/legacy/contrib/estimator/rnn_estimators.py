"""`RNNClassifier` and `RNNEstimator` of `tf.contrib.estimator`, with their old arguments."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

import estimator_train as est
from estimator_train.canned import rnn
from estimator_train.canned.parts.optimizer_arguments import V1Choice
from estimator_train.canned.rnn import CLIP_NORM, USE_DEFAULT
from estimator_train.legacy.contrib._types import Column, Optimizer
from estimator_train.legacy.contrib.estimator.heads import (
    binary_classification_head,
    multi_class_head,
)
from estimator_train.training.extenders import clip_gradients_by_norm

_DEFAULT_REDUCTION = tf.compat.v1.losses.Reduction.SUM_OVER_BATCH_SIZE
_CELL_TYPES = {"basic_rnn": "simple_rnn"}


class _ClippingChoice(V1Choice):
    """Optimizer choice that adds gradient clipping to optimizers that are chosen by name."""

    def _create_by_name(self, name: str) -> Any:
        return clip_gradients_by_norm(super()._create_by_name(name), CLIP_NORM)


class _V1RNNEstimator(rnn.RNNEstimator):
    """RNNEstimator that takes optimizers of `tf.train`."""

    _optimizer_choice = _ClippingChoice


def RNNEstimator(  # noqa: N802
    head: est.Head,
    sequence_feature_columns: Sequence[Column],
    context_feature_columns: Sequence[Column] | None = None,
    num_units: Sequence[int] | None = None,
    cell_type: Any = USE_DEFAULT,
    rnn_cell_fn: Callable[..., Any] | None = None,
    return_sequences: bool = False,
    model_dir: str | None = None,
    optimizer: str | Optimizer | Callable[[], Optimizer] = "Adagrad",
    input_layer_partitioner: object = None,
    config: est.RunConfig | None = None,
) -> rnn.RNNEstimator:
    """Creates a recurrent estimator; see `experimental.RNNEstimator`.

    Args:
      head: Head of the estimator.
      sequence_feature_columns: Columns of sequences.
      context_feature_columns: Columns of one value for a sequence.
      num_units: Sizes of the recurrent layers.
      cell_type: "basic_rnn", "lstm" or "gru".
      rnn_cell_fn: Not supported.
      return_sequences: Whether to predict at each step of a sequence.
      model_dir: Directory of the model.
      optimizer: Name of an optimizer, a `tf.train.Optimizer`, or a function that returns one.
      input_layer_partitioner: Not supported.
      config: Settings of the run.

    Raises:
      NotImplementedError: rnn_cell_fn or input_layer_partitioner is given.
    """
    if rnn_cell_fn is not None or input_layer_partitioner is not None:
        raise NotImplementedError(
            "RNNEstimator does not support rnn_cell_fn or input_layer_partitioner: give num_units "
            "and cell_type ('basic_rnn', 'lstm' or 'gru'), or write a model_fn with the cells."
        )
    return _V1RNNEstimator(
        head,
        sequence_feature_columns,
        context_feature_columns,
        num_units,
        _CELL_TYPES.get(cell_type, cell_type),
        return_sequences=return_sequences,
        model_dir=model_dir,
        optimizer=optimizer,
        config=config,
    )


def RNNClassifier(  # noqa: N802
    sequence_feature_columns: Sequence[Column],
    context_feature_columns: Sequence[Column] | None = None,
    num_units: Sequence[int] | None = None,
    cell_type: Any = USE_DEFAULT,
    rnn_cell_fn: Callable[..., Any] | None = None,
    model_dir: str | None = None,
    n_classes: int = 2,
    weight_column: str | Column | None = None,
    label_vocabulary: Sequence[str] | None = None,
    optimizer: str | Optimizer | Callable[[], Optimizer] = "Adagrad",
    loss_reduction: str = _DEFAULT_REDUCTION,
    input_layer_partitioner: object = None,
    config: est.RunConfig | None = None,
) -> rnn.RNNEstimator:
    """Creates a recurrent classifier for n_classes; see `RNNEstimator`."""
    head_arguments: dict[str, Any] = {
        "weight_column": weight_column,
        "label_vocabulary": label_vocabulary,
        "loss_reduction": loss_reduction,
    }
    if n_classes == 2:
        head: Any = binary_classification_head(**head_arguments)
    else:
        head = multi_class_head(n_classes, **head_arguments)
    return RNNEstimator(
        head,
        sequence_feature_columns=sequence_feature_columns,
        context_feature_columns=context_feature_columns,
        num_units=num_units,
        cell_type=cell_type,
        rnn_cell_fn=rnn_cell_fn,
        model_dir=model_dir,
        optimizer=optimizer,
        input_layer_partitioner=input_layer_partitioner,
        config=config,
    )
