"""Parts of canned models: a linear model and a deep neural network.

A part computes logits in the current variable scope, which names its variables. Both generations
of canned estimators share the parts, and differ in what follows the logits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf
import tf_keras

from estimator_train.canned.arguments import FeatureColumn, FeatureColumns, Partitioner
from estimator_train.canned.column_kinds import has_v1_columns, validate_columns
from estimator_train.canned.columns import Batch

_EPSILON = 1e-3
_MOMENTUM = 0.999
_PER_REPLICA = {
    "synchronization": tf.VariableSynchronization.ON_READ,
    "aggregation": tf.VariableAggregation.MEAN,
}
_v1 = tf.compat.v1


def dense(
    x: tf.Tensor,
    units: int,
    activation: Callable[[Any], Any] | None = None,
    initializer: Callable[..., tf.Tensor] | None = None,
) -> tf.Tensor:
    """Applies a fully connected layer in the current scope.

    Args:
      x: float32 of shape [..., size].
      units: Size of the last dimension of the result.
      activation: Function of the result, or None.
      initializer: Initializer of the kernel; by default the uniform one of Glorot of TensorFlow 1.
    """
    kernel = tf.convert_to_tensor(
        _v1.get_variable(
            "kernel",
            [x.shape[-1], units],
            initializer=initializer or _v1.glorot_uniform_initializer(),
        )
    )
    bias = tf.convert_to_tensor(_create_vector("bias", units, 0.0))
    y = tf.nn.bias_add(
        tf.matmul(x, kernel) if x.shape.rank == 2 else tf.tensordot(x, kernel, 1), bias
    )
    return y if activation is None else activation(y)


def add_batch_norm(x: tf.Tensor, training: bool) -> tuple[tf.Tensor, list[Any]]:
    """Normalizes a batch in the current scope.

    Args:
      x: float32 of shape [batch, size].
      training: Whether to use the mean and variance of the batch.

    Returns:
      The normalized tensor, and the operations that update the moving averages.
    """
    size = x.shape[-1]
    gamma, beta = _create_vector("gamma", size, 1.0), _create_vector("beta", size, 0.0)
    with _v1.variable_scope(_v1.get_variable_scope(), auxiliary_name_scope=False) as scope:
        scope.set_partitioner(None)
        moving = [
            _create_vector(name, size, first, trainable=False, **_PER_REPLICA)
            for name, first in (("moving_mean", 0.0), ("moving_variance", 1.0))
        ]
    mean, variance = tf.nn.moments(x, [0]) if training else moving
    scale, offset = tf.convert_to_tensor(gamma), tf.convert_to_tensor(beta)
    normalized = tf.nn.batch_normalization(x, mean, variance, offset, scale, _EPSILON)
    if not training:
        return normalized, []
    updates = [
        average.assign_sub((average - value) * (1.0 - _MOMENTUM))
        for average, value in zip(moving, (mean, variance), strict=True)
    ]
    return normalized, updates


def add_activation_summaries(name: str, x: tf.Tensor) -> None:
    """Adds a layer's output to the summaries, as a histogram and its share of zeros."""
    _v1.summary.scalar(f"{name}/fraction_of_zero_values", tf.math.zero_fraction(x))
    _v1.summary.histogram(f"{name}/activation", x)


def _create_vector(name: str, size: int, first: float, **settings: Any) -> Any:
    initializer = _v1.constant_initializer(first)
    return _v1.get_variable(name, [size], initializer=initializer, **settings)


class Logits(NamedTuple):
    """Logits of one part of a model.

    Attributes:
      tensor: float32 of shape [batch, units].
      updates: Operations that run with a training step.
    """

    tensor: tf.Tensor
    updates: list[Any]


class LinearModel(NamedTuple):
    """Linear model of a batch.

    Attributes:
      logits: float32 of shape [batch, units].
      weights: The variables of the columns, in the order of their names.
      inputs: Factor of each variable: `Ids`, or float32 of shape [batch, size].
      bias: The variable of the bias.
    """

    logits: tf.Tensor
    weights: list[Any]
    inputs: list[Any]
    bias: Any


@dataclasses.dataclass(frozen=True)
class Linear:
    """Linear model of feature columns.

    Attributes:
      columns: Checked columns.
      combiner: How several values of a categorical column become one.
      partitioner: Partitions the weights, or None.
      shows_output: Whether to add its output to the summaries.
    """

    columns: Sequence[FeatureColumn]
    combiner: str = "sum"
    partitioner: Partitioner | None = None
    shows_output: bool = False

    scope = "linear"

    @classmethod
    def build(
        cls, columns: FeatureColumns, combiner: str, *, v1: bool = False, **settings: Any
    ) -> Linear:
        """Checks the columns.

        Raises:
          ValueError: A column is wrong.
        """
        return cls(validate_columns(columns, v1=v1), combiner, **settings)

    def logits(self, batch: Batch, units: int, training: bool) -> Logits:
        """Computes logits in the current scope."""
        if not has_v1_columns(self.columns):
            return Logits(self.model(batch, units).logits, [])
        name = _v1.get_variable_scope().name
        found: dict[Any, Any] = {}
        scope = _v1.get_variable_scope()
        with _v1.variable_scope(scope, partitioner=self.partitioner, auxiliary_name_scope=False):
            logits = _v1.feature_column.linear_model(
                batch.features,
                self.columns,
                units,
                self.combiner,
                cols_to_vars=found,
            )
        del found["bias"]
        # As the logits read it: another read could come after the step changed it.
        bias = logits.op.inputs[1]
        weights = [weight for of_column in found.values() for weight in of_column]
        self._summarize(batch, name, logits, weights, bias)
        return Logits(logits, [])

    def model(self, batch: Batch, units: int) -> LinearModel:
        """Computes the model of v2 columns in the current scope; initial weights are 0."""
        name = _v1.get_variable_scope().name
        # Programs fetch operations by these names of tf.estimator.
        layer = "linear_model" if batch.v1 else f"{name}/linear_model"
        with (
            _v1.variable_scope(
                "linear_model", partitioner=self.partitioner, auxiliary_name_scope=False
            ),
            tf.name_scope(f"linear_model/{layer}/{layer}"),
        ):
            sums, weights, inputs = batch.compute_weighted_sum(self.columns, units, self.combiner)
            bias = _v1.get_variable("bias_weights", [units], initializer=_v1.zeros_initializer())
            # Read once: another read, for the summary, could come after the step changed it.
            value = tf.convert_to_tensor(bias)
            logits = tf.nn.bias_add(sums, value, name="weighted_sum")
        self._summarize(batch, name, logits, weights, value)
        return LinearModel(logits, weights, inputs, bias)

    def _summarize(
        self, batch: Batch, name: str, logits: tf.Tensor, weights: list[Any], bias: tf.Tensor
    ) -> None:
        with batch.summary_scope():
            if bias.shape[0] > 1:
                _v1.summary.histogram("bias", bias)
            else:
                _v1.summary.scalar("bias", tf.reshape(bias, []))
            _v1.summary.scalar("fraction_of_zero_weights", _compute_zero_fraction(weights))
            if self.shows_output:
                add_activation_summaries(name, logits)


@dataclasses.dataclass(frozen=True)
class Deep:
    """Deep neural network on feature columns.

    Attributes:
      columns: Checked columns.
      hidden_units: Sizes of the hidden layers.
      activation: Function of their outputs.
      dropout: Share of these that is dropped in training, or None.
      batch_norm: Whether to normalize after each hidden layer.
      input_partitioner: Partitions the columns' variables, or None.
      hidden_partitioner: Partitions the layers' variables, or None.
    """

    columns: Sequence[FeatureColumn]
    hidden_units: Sequence[int]
    activation: Callable[[Any], Any] = tf.nn.relu
    dropout: float | None = None
    batch_norm: bool = False
    input_partitioner: Partitioner | None = None
    hidden_partitioner: Partitioner | None = None

    scope = "dnn"

    @classmethod
    def build(
        cls,
        columns: FeatureColumns,
        hidden_units: Any,
        activation_fn: Any,
        dropout: float | None,
        batch_norm: bool,
        *,
        v1: bool = False,
        **settings: Any,
    ) -> Deep:
        """Checks the arguments of a DNN estimator.

        Raises:
          ValueError: A column is wrong, a size is not positive, or dropout is not from 0 to 1.
          TypeError: hidden_units are not a list.
        """
        columns = validate_columns(columns, v1=v1)
        units = _validate_sizes(hidden_units)
        _check_rate(dropout)
        activation = tf_keras.activations.get(activation_fn)
        return cls(columns, units, activation, dropout, batch_norm, **settings)

    def logits(self, batch: Batch, units: int, training: bool) -> Logits:
        """Computes logits in the current scope; initial kernels are Glorot uniform."""
        updates: list[Any] = []
        with _v1.variable_scope("input_from_feature_columns", partitioner=self.input_partitioner):
            x = batch.dense(self.columns, training=training)
        for number, size in enumerate(self.hidden_units):
            with _v1.variable_scope(
                f"hiddenlayer_{number}", partitioner=self.hidden_partitioner
            ) as scope:
                x = dense(x, size, self.activation)
                if self.dropout and training:
                    x = tf.nn.dropout(x, rate=self.dropout)
                if self.batch_norm:
                    with _v1.variable_scope(f"batchnorm_{number}"):
                        x, updated = add_batch_norm(x, training)
                    updates += updated
            with batch.summary_scope():
                add_activation_summaries(scope.name, x)
        if batch.v1:
            for update in updates:  # Programs that make their own train_op run these.
                _v1.add_to_collection(_v1.GraphKeys.UPDATE_OPS, update)
        with _v1.variable_scope("logits", partitioner=self.hidden_partitioner) as scope:
            x = dense(x, units)
        with batch.summary_scope():
            add_activation_summaries(scope.name, x)
        return Logits(x, updates)


def _check_rate(dropout: Any) -> None:
    try:
        is_share = dropout is None or 0 <= dropout <= 1
    except TypeError:  # It is not a number.
        is_share = False
    if not is_share:
        raise ValueError(
            f"Invalid value {dropout!r} received for `rate`, expected a value between 0 and 1. "
            "It is the share of a layer's outputs that is dropped in training."
        )


def _validate_sizes(hidden_units: Any) -> list[int]:
    if hidden_units is None or isinstance(hidden_units, int):
        raise TypeError(
            f"hidden_units must be a list of the sizes of layers, as in [64, 32]. Given: "
            f"{hidden_units!r} ('{type(hidden_units).__name__}' object is not iterable)"
        )
    sizes = [int(size) for size in hidden_units]
    if any(size < 1 for size in sizes):
        raise ValueError(f"hidden_units must be positive. Given: {hidden_units}")
    return sizes


def _compute_zero_fraction(weights: Sequence[Any]) -> tf.Tensor:
    """Returns the share of zeros among all elements of some variables."""
    flat = [tf.reshape(tf.convert_to_tensor(weight), [-1]) for weight in weights]
    zeros = tf.add_n([tf.reduce_sum(tf.cast(tf.equal(part, 0.0), tf.float32)) for part in flat])
    return zeros / float(sum(int(part.shape[0]) for part in flat))
