"""`RNNClassifier` and `RNNEstimator` of `tf.contrib.estimator`, with cells of TensorFlow 1."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

import estimator_train as est
import estimator_train.compat.v1 as v1
from estimator_train.extension import (
    RNN_CLIP_NORM,
    RNN_LEARNING_RATE,
    RNN_USE_DEFAULT,
    V1Choice,
    clip_gradients_by_norm,
)
from tf_contrib._types import Cell, Column, Features, Optimizer, TensorLike
from tf_contrib.estimator.heads import (
    binary_classification_head,
    multi_class_head,
)
from tf_contrib.feature_column import sequence_input_layer

_v1 = tf.compat.v1
_DEFAULT_REDUCTION = _v1.losses.Reduction.SUM_OVER_BATCH_SIZE
_MIN_SLICE_BYTES = 64 << 20
# By name, since TensorFlow refuses to import them where `tf.keras` is Keras 3.
_CELL_TYPES = {"basic_rnn": "BasicRNNCell", "lstm": "BasicLSTMCell", "gru": "GRUCell"}


class _ClippingChoice(V1Choice):
    """Optimizer choice that adds gradient clipping to optimizers that are chosen by name."""

    def _create_by_name(self, name: str) -> Any:
        return clip_gradients_by_norm(super()._create_by_name(name), RNN_CLIP_NORM)


@dataclasses.dataclass(frozen=True)
class _Network:
    """Recurrent network on feature columns.

    Attributes:
      cell_fn: Returns the cell for a mode.
      mask_key: Feature for the mask of the steps, if each step has logits.
      partitioner: Partitions the embeddings; by default over the parameter servers.
    """

    sequence_columns: Sequence[Column]
    context_columns: Sequence[Column]
    cell_fn: Callable[[str], Cell]
    mask_key: str | None
    partitioner: Any

    def logits(
        self, features: Features, mode: str, units: int, config: est.RunConfig
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the logits, [batch, units] or [batch, time, units], and the lengths."""
        by_default = _v1.min_max_variable_partitioner(
            max_partitions=max(1, config.num_ps_replicas), min_slice_size=_MIN_SLICE_BYTES
        )
        with _v1.variable_scope("sequence_input_layer", partitioner=self.partitioner or by_default):
            steps, lengths = sequence_input_layer(features, self.sequence_columns)
            _v1.summary.histogram("sequence_length", lengths)
        if self.context_columns:
            context = _v1.feature_column.input_layer(features, self.context_columns)
            repeated = tf.tile(context[:, None, :], [1, tf.shape(steps)[1], 1])
            steps = tf.concat([steps, repeated], 2)
        outputs, _ = _v1.nn.dynamic_rnn(
            self.cell_fn(mode), steps, sequence_length=lengths, dtype=tf.float32
        )
        if self.mask_key is None:
            outputs = tf.gather(outputs, tf.maximum(lengths - 1, 0), batch_dims=1)
        with _v1.variable_scope("logits"):
            return _v1.layers.dense(outputs, units), lengths


class RNNEstimator(v1.Estimator):
    """Recurrent estimator with any head.

    Args:
      head: Head of the estimator; for return_sequences a `SequentialHeadWrapper`.
      sequence_feature_columns: Columns of sequences.
      context_feature_columns: Columns of one value for a sequence; each step gets the value.
      num_units: Sizes of the recurrent layers.
      cell_type: "basic_rnn" (the default), "lstm" or "gru", or the class of a cell.
      rnn_cell_fn: Alternative to num_units and cell_type: a function from the mode to a cell.
      return_sequences: Whether each step of a sequence has logits.
      model_dir: Directory of the model.
      optimizer: A `tf.train.Optimizer`, a function that returns one, or one of "Adagrad", "Adam",
        "Ftrl", "RMSProp", "SGD" with learning rate 0.05, whose gradients are clipped to norm 5.
      input_layer_partitioner: Partitions the embeddings; by default over the parameter servers,
        in slices of 64 MiB or more.
      config: Settings of the run.

    Raises:
      ValueError: rnn_cell_fn is given with num_units or cell_type, or the head is not one for
        sequences.
    """

    def __init__(
        self,
        head: est.Head,
        sequence_feature_columns: Sequence[Column],
        context_feature_columns: Sequence[Column] | None = None,
        num_units: Sequence[int] | None = None,
        cell_type: Any = RNN_USE_DEFAULT,
        rnn_cell_fn: Callable[[str], Cell] | None = None,
        return_sequences: bool = False,
        model_dir: str | None = None,
        optimizer: str | Optimizer | Callable[[], Optimizer] = "Adagrad",
        input_layer_partitioner: Any = None,
        config: est.RunConfig | None = None,
    ) -> None:
        mask_key = getattr(head, "input_sequence_mask_key", None) if return_sequences else None
        if return_sequences and mask_key is None:
            raise ValueError(
                "Provided head must be a `_SequentialHead` object when `return_sequences` is set "
                f"to True. Given: {type(head).__name__}. Wrap it in "
                "tf.estimator.experimental.SequentialHeadWrapper."
            )
        network = _Network(
            sequence_feature_columns,
            context_feature_columns or [],
            _choose_cell_fn(num_units, cell_type, rnn_cell_fn),
            mask_key,
            input_layer_partitioner,
        )
        choice = _ClippingChoice(optimizer, RNN_LEARNING_RATE)
        super().__init__(_make_model_fn(head, network, choice), model_dir, config)


class RNNClassifier(RNNEstimator):
    """Recurrent classifier for n_classes; see `RNNEstimator` and the heads."""

    def __init__(
        self,
        sequence_feature_columns: Sequence[Column],
        context_feature_columns: Sequence[Column] | None = None,
        num_units: Sequence[int] | None = None,
        cell_type: Any = RNN_USE_DEFAULT,
        rnn_cell_fn: Callable[[str], Cell] | None = None,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: str | Column | None = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: str | Optimizer | Callable[[], Optimizer] = "Adagrad",
        loss_reduction: str = _DEFAULT_REDUCTION,
        input_layer_partitioner: Any = None,
        config: est.RunConfig | None = None,
    ) -> None:
        head_arguments: dict[str, Any] = {
            "weight_column": weight_column,
            "label_vocabulary": label_vocabulary,
            "loss_reduction": loss_reduction,
        }
        if n_classes == 2:
            head: Any = binary_classification_head(**head_arguments)
        else:
            head = multi_class_head(n_classes, **head_arguments)
        super().__init__(
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


def _choose_cell_fn(
    num_units: Sequence[int] | None, cell_type: Any, rnn_cell_fn: Callable[[str], Cell] | None
) -> Callable[[str], Cell]:
    """Returns the function from the mode to the cell of a network.

    Raises:
      ValueError: The arguments contradict each other.
    """
    if rnn_cell_fn is not None:
        if num_units is not None or cell_type is not RNN_USE_DEFAULT:
            raise ValueError(
                "num_units and cell_type must not be specified when using rnn_cell_fn."
            )
        return rnn_cell_fn

    def make_cell(mode: str) -> Cell:
        del mode
        if num_units is None or isinstance(num_units, int):
            raise TypeError(f"num_units must be a list of sizes, such as [32], got {num_units!r}.")
        create = "basic_rnn" if cell_type is RNN_USE_DEFAULT else cell_type
        if create in _CELL_TYPES:
            create = getattr(_v1.nn.rnn_cell, _CELL_TYPES[create])
        if not callable(create):
            raise TypeError(
                f"cell_type must be one of {sorted(_CELL_TYPES)} or the class of a cell, got "
                f"{cell_type!r}."
            )
        cells = [create(int(size)) for size in num_units]
        return cells[0] if len(cells) == 1 else _v1.nn.rnn_cell.MultiRNNCell(cells)

    return make_cell


def _make_model_fn(
    head: est.Head, network: _Network, choice: _ClippingChoice
) -> Callable[..., est.EstimatorSpec]:
    def model_fn(
        features: Features, labels: TensorLike | None, mode: str, config: est.RunConfig
    ) -> est.EstimatorSpec:
        if mode == est.ModeKeys.TRAIN:
            choice.check()
        partitioner = _v1.min_max_variable_partitioner(max(1, config.num_ps_replicas))
        with _v1.variable_scope("rnn", use_resource=True, partitioner=partitioner):
            logits, lengths = network.logits(features, mode, head.logits_dimension, config)
            if network.mask_key is not None:
                mask = tf.sequence_mask(lengths, tf.shape(logits)[1])
                features = {**features, network.mask_key: mask}
            optimizer = choice.make() if mode == est.ModeKeys.TRAIN else None
            return head.create_estimator_spec(
                features, mode, logits, labels=labels, optimizer=optimizer
            )

    return model_fn
