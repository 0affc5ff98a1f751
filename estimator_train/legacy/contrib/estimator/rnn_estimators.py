"""`RNNClassifier` and `RNNEstimator` of `tf.contrib.estimator`, by their old arguments."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.canned import rnn
from estimator_train.canned.parts.optimizer_arguments import V1Choice
from estimator_train.canned.rnn import CLIP_NORM, USE_DEFAULT
from estimator_train.legacy.contrib.estimator.heads import (
    binary_classification_head,
    multi_class_head,
)
from estimator_train.training.extenders import clip_gradients_by_norm

_MEAN_OF_LOSSES = tf.compat.v1.losses.Reduction.SUM_OVER_BATCH_SIZE
_CELL_TYPES = {"basic_rnn": "simple_rnn"}


class _ClippedByName(V1Choice):
    """As `V1Choice`; an optimizer by name clips the gradient of each variable."""

    def _of_name(self, name: str) -> Any:
        return clip_gradients_by_norm(super()._of_name(name), CLIP_NORM)


class _WithOldOptimizers(rnn.RNNEstimator):
    """The same with optimizers of `tf.train`."""

    _optimizer_choice = _ClippedByName


def RNNEstimator(  # noqa: N802
    head: Any,
    sequence_feature_columns: Any,
    context_feature_columns: Any = None,
    num_units: Sequence[int] | None = None,
    cell_type: Any = USE_DEFAULT,
    rnn_cell_fn: Callable[..., Any] | None = None,
    return_sequences: bool = False,
    model_dir: Any = None,
    optimizer: Any = "Adagrad",
    input_layer_partitioner: Any = None,
    config: Any = None,
) -> rnn.RNNEstimator:
    """See `experimental.RNNEstimator`, whose units num_units are; cell_type may be "basic_rnn".

    Raises:
      NotImplementedError: rnn_cell_fn or input_layer_partitioner is given.
    """
    if rnn_cell_fn is not None or input_layer_partitioner is not None:
        raise NotImplementedError(
            "RNNEstimator takes no rnn_cell_fn and no input_layer_partitioner here: give num_units "
            "and cell_type ('basic_rnn', 'lstm' or 'gru'), or write a model_fn with the cells."
        )
    return _WithOldOptimizers(
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
    sequence_feature_columns: Any,
    context_feature_columns: Any = None,
    num_units: Sequence[int] | None = None,
    cell_type: Any = USE_DEFAULT,
    rnn_cell_fn: Callable[..., Any] | None = None,
    model_dir: Any = None,
    n_classes: int = 2,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    optimizer: Any = "Adagrad",
    loss_reduction: str = _MEAN_OF_LOSSES,
    input_layer_partitioner: Any = None,
    config: Any = None,
) -> rnn.RNNEstimator:
    """See `RNNEstimator`; the head is one of two classes, or of n_classes."""
    given = dict(locals())
    of_head = ("weight_column", "label_vocabulary", "loss_reduction")
    about = {name: given.pop(name) for name in of_head}
    if given.pop("n_classes") == 2:
        head: Any = binary_classification_head(**about)
    else:
        head = multi_class_head(n_classes, **about)
    return RNNEstimator(head, **given)
