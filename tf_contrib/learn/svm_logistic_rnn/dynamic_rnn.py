"""Recurrent estimator of `tf.contrib.learn`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

import estimator_train.compat.v1 as v1
from tf_contrib._types import Cell, Column, Features, Nest
from tf_contrib.layers.columns import (
    input_from_feature_columns,
    sequence_input_from_feature_columns,
)
from tf_contrib.layers.dense import fully_connected
from tf_contrib.layers.optimizers import OPTIMIZER_SUMMARIES, optimize_loss
from tf_contrib.learn.estimators import Estimator
from tf_contrib.learn.keys import (
    ModeKeys,
    PredictionKey,
    PredictionType,
    ProblemType,
    RNNKeys,
)
from tf_contrib.learn.model_fns import ModelFnOps

_v1 = tf.compat.v1
_CELLS = {"basic_rnn": "BasicRNNCell", "lstm": "LSTMCell", "gru": "GRUCell"}


class _Model(NamedTuple):
    """Settings of a recurrent model; each is an argument of DynamicRnnEstimator."""

    problem_type: int
    prediction_type: int
    sequence_feature_columns: Sequence[Column]
    context_feature_columns: Sequence[Column] | None
    num_classes: int | None
    num_units: int | Sequence[int]
    cell_type: Any
    optimizer: Any
    learning_rate: float
    predict_probabilities: bool
    momentum: float | None
    gradient_clipping_norm: float | None
    dropout_keep_probabilities: Sequence[float] | None

    def build(self, features: dict[str, Any], labels: Any, mode: str) -> ModelFnOps:
        """Builds the graph of a mode."""
        is_single = self.prediction_type == PredictionType.SINGLE_VALUE
        kind = "Classifier" if self._is_classification() else "Regressor"
        with _v1.name_scope(f"{'Single' if is_single else 'Multi'}ValueDynamicRNN{kind}"):
            lengths = features.get(RNNKeys.SEQUENCE_LENGTH_KEY)
            outputs, state = self._run_cells(features, mode)
            if is_single:
                outputs = _select_last(outputs, lengths)
            size = self.num_classes if self._is_classification() else 1
            logits = fully_connected(outputs, size, activation_fn=None)
            logits = logits if self._is_classification() else tf.squeeze(logits, [-1])
            predictions = self._predict(logits)
            for index, part in enumerate(tf.nest.flatten(state)):
                predictions[f"{RNNKeys.STATE_PREFIX}_{index}"] = part
            if mode == ModeKeys.INFER:
                return ModelFnOps(mode, predictions)
            mask = None if is_single or lengths is None else _mask_steps(lengths, logits)
            loss = self._compute_loss(labels, logits, mask)
            metrics = {}
            if self._is_classification():
                classes = predictions[PredictionKey.CLASSES]
                metrics["accuracy"] = _v1.metrics.accuracy(labels, classes, mask)
            train_op = self._train(loss) if mode == ModeKeys.TRAIN else None
            return ModelFnOps(mode, predictions, loss, train_op, metrics)

    def _is_classification(self) -> bool:
        return self.problem_type == ProblemType.CLASSIFICATION

    def _run_cells(self, features: Mapping[str, Any], mode: str) -> tuple[tf.Tensor, Nest]:
        """Returns the output of each step, also of steps that do not count, and the last state."""
        steps = sequence_input_from_feature_columns(features, self.sequence_feature_columns)
        if self.context_feature_columns:
            context = input_from_feature_columns(features, self.context_feature_columns)
            repeated = tf.tile(context[:, None, :], [1, tf.shape(steps)[1], 1])
            steps = tf.concat([steps, repeated], 2)
        cell = self._create_cell(mode == ModeKeys.TRAIN)
        batch = tf.shape(steps)[0]
        state = cell.zero_state(batch, tf.float32)
        parts = tf.nest.flatten(state)
        given = [features.get(f"{RNNKeys.STATE_PREFIX}_{index}") for index in range(len(parts))]
        if all(part is not None for part in given):
            state = tf.nest.pack_sequence_as(state, given)
        return _v1.nn.dynamic_rnn(cell, steps, initial_state=state)

    def _create_cell(self, is_training: bool) -> Cell:
        cells = _v1.nn.rnn_cell
        create = self.cell_type
        if isinstance(create, str):
            create = getattr(cells, _CELLS[create])
        sizes = [self.num_units] if isinstance(self.num_units, int) else list(self.num_units)
        made = [create(size) for size in sizes]
        kept = self.dropout_keep_probabilities
        if is_training and kept:
            made = [
                cells.DropoutWrapper(one, input_keep_prob=keep)
                for one, keep in zip(made, kept[: len(made)], strict=True)
            ]
            made[-1] = cells.DropoutWrapper(made[-1], output_keep_prob=kept[-1])
        return made[0] if len(made) == 1 else cells.MultiRNNCell(made)

    def _predict(self, logits: tf.Tensor) -> dict[str, tf.Tensor]:
        if not self._is_classification():
            return {PredictionKey.SCORES: logits}
        predictions = {}
        if self.predict_probabilities:
            predictions[PredictionKey.PROBABILITIES] = tf.nn.softmax(logits)
        return predictions | {PredictionKey.CLASSES: tf.argmax(logits, -1)}

    def _compute_loss(
        self, labels: tf.Tensor, logits: tf.Tensor, mask: tf.Tensor | None
    ) -> tf.Tensor:
        """Returns the mean of the losses of predictions that count."""
        if self._is_classification():
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        else:
            labels = tf.reshape(tf.cast(labels, logits.dtype), tf.shape(logits))
            losses = tf.square(logits - labels)
        return tf.reduce_mean(losses if mask is None else tf.boolean_mask(losses, mask > 0))

    def _train(self, loss: tf.Tensor) -> tf.Tensor:
        optimizer = self.optimizer
        if optimizer == "Momentum":
            optimizer = _v1.train.MomentumOptimizer(self.learning_rate, self.momentum)
        return optimize_loss(
            loss,
            _v1.train.get_global_step(),
            self.learning_rate,
            optimizer,
            clip_gradients=self.gradient_clipping_norm,
            summaries=OPTIMIZER_SUMMARIES,
        )


def _select_last(outputs: tf.Tensor, lengths: tf.Tensor | None) -> tf.Tensor:
    """Returns the output of the last step of each sequence."""
    if lengths is None:
        return outputs[:, -1]
    return tf.gather(outputs, tf.maximum(lengths - 1, 0), batch_dims=1)


def _mask_steps(lengths: tf.Tensor, outputs: tf.Tensor) -> tf.Tensor:
    return tf.sequence_mask(lengths, tf.shape(outputs)[1], tf.float32)


class DynamicRnnEstimator(Estimator):
    """Recurrent model that predicts a class or number for each sequence, or for each of its steps.

    The feature "sequence_length" has the lengths of the sequences, if these differ. The features
    "rnn_cell_state_0", "rnn_cell_state_1" ... have the first state, zeros by default; predictions
    have the last state under these keys.

    Args:
      problem_type: `ProblemType.CLASSIFICATION` or `ProblemType.LINEAR_REGRESSION`.
      prediction_type: One of `PredictionType`.
      sequence_feature_columns: Columns of features of each step.
      context_feature_columns: Columns of features of the sequence, which each step gets.
      num_classes: Number of classes of a classification.
      num_units: Size of the cell, or sizes of stacked cells.
      cell_type: "basic_rnn", "lstm", "gru", or a function of the size that returns a cell.
      optimizer: Optimizer, its class or its name.
      learning_rate: Learning rate.
      predict_probabilities: Whether a classification also predicts probabilities.
      momentum: Momentum of the optimizer "Momentum".
      gradient_clipping_norm: Maximum norm of all gradients, or None.
      dropout_keep_probabilities: Probability of keeping an input of each cell, and last an output.
      model_dir: Directory of the model.
      feature_engineering_fn: Function that converts features and labels.
      config: Settings of the run.

    Raises:
      ValueError: A type is unknown, or a classification has no num_classes.
    """

    def __init__(
        self,
        problem_type: int,
        prediction_type: int,
        sequence_feature_columns: Sequence[Column],
        context_feature_columns: Sequence[Column] | None = None,
        num_classes: int | None = None,
        num_units: int | Sequence[int] | None = None,
        cell_type: Any = "basic_rnn",
        optimizer: Any = "SGD",
        learning_rate: float = 0.1,
        predict_probabilities: bool = False,
        momentum: float | None = None,
        gradient_clipping_norm: float | None = 5.0,
        dropout_keep_probabilities: Sequence[float] | None = None,
        model_dir: str | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        config: v1.RunConfig | None = None,
    ) -> None:
        if prediction_type not in (PredictionType.SINGLE_VALUE, PredictionType.MULTIPLE_VALUE):
            raise ValueError(
                "prediction_type must be one of PredictionType.MULTIPLE_VALUE or "
                f"PredictionType.SINGLE_VALUE; got {prediction_type}"
            )
        if problem_type not in (ProblemType.CLASSIFICATION, ProblemType.LINEAR_REGRESSION):
            raise ValueError(
                "problem_type must be either ProblemType.LINEAR_REGRESSION or "
                f"ProblemType.CLASSIFICATION; got {problem_type}"
            )
        if problem_type == ProblemType.CLASSIFICATION and not num_classes:
            raise ValueError("For CLASSIFICATION problem_type, num_classes must be specified.")
        if num_units is None:
            raise ValueError("num_units must be a size or a list of sizes, got None.")
        given = locals()
        model = _Model(*(given[name] for name in _Model._fields))

        def model_fn(features: Features, labels: Any, mode: str) -> ModelFnOps:
            return model.build(dict(features), labels, mode)

        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)
