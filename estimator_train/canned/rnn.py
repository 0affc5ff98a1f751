"""Recurrent networks on sequence columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, cast

import tensorflow as tf
import tf_keras

from estimator_train.canned.arguments import (
    Config,
    FeatureColumn,
    FeatureColumns,
    KerasChoice,
    ModelDir,
    OptimizerArgument,
    OptimizerChoice,
    make_classifier_head,
)
from estimator_train.canned.column_kinds import validate_columns
from estimator_train.canned.columns import Batch
from estimator_train.canned.models import dense
from estimator_train.estimator import Estimator
from estimator_train.estimator_spec import EstimatorSpec, ModeKeys
from estimator_train.heads import Head, SequentialHeadWrapper
from estimator_train.heads.keys import FeatureTensors, Labels, WeightColumn

LEARNING_RATE = 0.05
CLIP_NORM = 5.0
_v1 = tf.compat.v1
_MEAN = tf_keras.losses.Reduction.SUM_OVER_BATCH_SIZE
_CELLS: dict[Any, Any] = {
    "simple_rnn": tf_keras.layers.SimpleRNNCell,
    "lstm": tf_keras.layers.LSTMCell,
    "gru": tf_keras.layers.GRUCell,
}


class _UseDefault:
    def __repr__(self) -> str:
        return "USE_DEFAULT"


USE_DEFAULT = _UseDefault()


class _ClippedByName(KerasChoice):
    """`KerasChoice` whose optimizers by name clip the gradient of each variable."""

    def _create_by_name(self, name: str) -> Any:
        made = super()._create_by_name(name)
        made.clipnorm = CLIP_NORM
        return made


class RNNEstimator(Estimator):
    """Recurrent network on sequence columns, with any head.

        words = tf.feature_column.sequence_categorical_column_with_hash_bucket("words", 1000)
        estimator = RNNEstimator(
            head=BinaryClassHead(),
            sequence_feature_columns=[tf.feature_column.embedding_column(words, 16)],
            units=[32],
            cell_type="lstm",
        )

    Logits are computed from the output after the last step of a sequence, or with return_sequences
    from the output after every step.

    Args:
      head: Computes loss, metrics and predictions from logits; a `SequentialHeadWrapper` where
        return_sequences is set.
      sequence_feature_columns: Sequence columns of `tf.feature_column`: numeric ones, or
        categorical ones in an `embedding_column` or `indicator_column`.
      context_feature_columns: Dense columns whose numbers are added to every step's.
      units: Sizes of the cells, one after the other.
      cell_type: "simple_rnn" (the default), "lstm", "gru", or the class of a tf_keras cell.
      rnn_cell_fn: Alternative to units and cell_type: a function without arguments that returns
        a tf_keras cell or a list of cells.
      return_sequences: Whether there are logits for every step.
      model_dir: See `Estimator`.
      optimizer: A tf_keras optimizer, new or legacy, a function without arguments that makes
        one, or one of "Adagrad", "Adam", "Ftrl", "RMSProp", "SGD" with learning rate 0.05
        and the gradient of each variable clipped to the norm 5.
      config: See `Estimator`.

    Raises:
      ValueError: Both or neither of rnn_cell_fn and units are given, cell_type is unknown, the
        head is not for sequences, a column is wrong, or the optimizer is of a wrong type.
    """

    _optimizer_choice: type[OptimizerChoice] = _ClippedByName

    # In tf.estimator these derive from the v1 Estimator.
    export_savedmodel = Estimator.export_savedmodel

    def __init__(
        self,
        head: Head,
        sequence_feature_columns: FeatureColumns,
        context_feature_columns: FeatureColumns | None = None,
        units: Sequence[int] | None = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: Callable[[], Any] | None = None,
        return_sequences: bool = False,
        model_dir: ModelDir = None,
        optimizer: OptimizerArgument = "Adagrad",
        config: Config = None,
    ) -> None:
        mask_key = getattr(head, "input_sequence_mask_key", None) if return_sequences else None
        if return_sequences and mask_key is None:
            raise ValueError(
                "Provided head must be a `_SequentialHead` object when `return_sequences` is set "
                f"to True. Given: {type(head).__name__}. Wrap it in a SequentialHeadWrapper."
            )
        network = _Network(
            validate_columns(sequence_feature_columns),
            validate_columns(context_feature_columns) if context_feature_columns else [],
            _make_cell_fn(units, cell_type, rnn_cell_fn),
            mask_key,
        )
        choice = self._optimizer_choice(optimizer, LEARNING_RATE)
        super().__init__(_make_model_fn(head, network, choice), model_dir, config)


class RNNClassifier(RNNEstimator):
    """Classifier of sequences, or of their steps, with a recurrent network.

    Arguments that are not listed, and errors, are those of `RNNEstimator` and the heads.

    Args:
      return_sequences: Whether every step is classified; labels, and weights, then are sparse
        with one for each step.
      n_classes: Number of classes; labels are smaller.
      weight_column: Name of the feature with the weights of examples, or a numeric column.
      label_vocabulary: Names of the classes if labels are strings.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE.
      sequence_mask: Name of the mask of steps that are not padding, among features and
        predictions, where return_sequences is set.
    """

    def __init__(
        self,
        sequence_feature_columns: FeatureColumns,
        context_feature_columns: FeatureColumns | None = None,
        units: Sequence[int] | None = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: Callable[[], Any] | None = None,
        return_sequences: bool = False,
        model_dir: ModelDir = None,
        n_classes: int = 2,
        weight_column: WeightColumn = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: OptimizerArgument = "Adagrad",
        loss_reduction: str = _MEAN,
        sequence_mask: str = "sequence_mask",
        config: Config = None,
    ) -> None:
        head: Any = make_classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        if return_sequences:
            head = SequentialHeadWrapper(head, sequence_mask, cast("str | None", weight_column))
        super().__init__(
            head=head,
            sequence_feature_columns=sequence_feature_columns,
            context_feature_columns=context_feature_columns,
            units=units,
            cell_type=cell_type,
            rnn_cell_fn=rnn_cell_fn,
            return_sequences=return_sequences,
            model_dir=model_dir,
            optimizer=optimizer,
            config=config,
        )


@dataclasses.dataclass(frozen=True)
class _Network:
    """Recurrent network; see `RNNEstimator`."""

    sequence_columns: Sequence[FeatureColumn]
    context_columns: Sequence[FeatureColumn]
    cell_fn: Callable[[], Any]
    mask_key: str | None

    def logits(self, batch: Batch, units: int, training: bool) -> tuple[tf.Tensor, tf.Tensor]:
        """Makes logits, [batch, units] or [batch, time, units], and the mask, [batch, time]."""
        with _v1.variable_scope("sequence_features", use_resource=True):
            x, lengths = batch.sequence(self.sequence_columns)
        if self.context_columns:
            context = batch.dense(self.context_columns, "dense_features")
            steps = [1, tf.shape(x)[1], 1]
            x = tf.concat([x, tf.tile(context[:, None, :], steps)], axis=2)
        with _v1.variable_scope("rnn_model", use_resource=True):
            mask = tf.sequence_mask(lengths, tf.shape(x)[1])
            cells, every_step = self.cell_fn(), self.mask_key is not None
            layer = tf_keras.layers.RNN(cells, return_sequences=every_step, name="rnn")
            x = layer(x, mask=mask, training=training)
            with _v1.variable_scope("logits"):
                # Keras draws this kernel, as those of the cells, from its own seed.
                logits = dense(x, units, initializer=tf_keras.initializers.GlorotUniform())
        with tf.name_scope(""):
            _v1.summary.histogram("rnn_model/sequence_input_layer/sequence_length", lengths)
        return logits, mask


def _make_model_fn(
    head: Head, network: _Network, choice: OptimizerChoice
) -> Callable[..., EstimatorSpec]:
    def model_fn(features: FeatureTensors, labels: Labels, mode: str) -> EstimatorSpec:
        if mode == ModeKeys.TRAIN:
            choice.check()
        batch = Batch(features)
        logits, mask = network.logits(batch, head.logits_dimension, mode == ModeKeys.TRAIN)
        found = batch.features
        if network.mask_key is not None:
            found = {**found, network.mask_key: mask}
        training = {}
        if mode == ModeKeys.TRAIN:
            optimizer = choice.make(_v1.train.get_or_create_global_step())
            variables = _v1.trainable_variables()
            training = {"optimizer": optimizer, "trainable_variables": variables}
        return head.create_estimator_spec(found, mode, logits, labels=labels, **training)

    return model_fn


def _make_cell_fn(
    units: Any, cell_type: str | type | _UseDefault, rnn_cell_fn: Any
) -> Callable[[], Any]:
    """Returns the function that creates the cells of a network.

    Raises:
      ValueError: The arguments contradict each other, or say too little.
    """
    if rnn_cell_fn is not None:
        if units is not None or cell_type is not USE_DEFAULT:
            raise ValueError("units and cell_type must not be specified when using rnn_cell_fn")
        return rnn_cell_fn
    if units is None or isinstance(units, int):
        raise ValueError(
            f"units must be a list of the sizes of cells, as in [32], or rnn_cell_fn must be "
            f"given. Given: units={units!r}"
        )
    kind = _CELLS["simple_rnn"] if cell_type is USE_DEFAULT else _CELLS.get(cell_type, cell_type)
    if not callable(kind):
        raise ValueError(
            "`cell_type` should be a class producing a RNN cell, or a string specifying the cell "
            f"type. Supported strings are: {list(_CELLS)}. Given: {cell_type!r}"
        )

    def make_cells() -> Any:
        found = [kind(units=int(size)) for size in units]
        return found[0] if len(found) == 1 else found

    return make_cells
