"""Model functions of the linear and deep estimators of `tf.contrib.learn`.

The names of variables, of their slots and of summaries are those of TensorFlow 1.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

import estimator_train.compat.v1 as v1
from tf_contrib._types import Column, Features, Optimizer
from tf_contrib.layers.columns import input_from_feature_columns
from tf_contrib.layers.columns.weighted import (
    joint_weighted_sum_from_feature_columns,
    weighted_sum_from_feature_columns,
)
from tf_contrib.layers.dense import fully_connected
from tf_contrib.layers.optimizers import OPTIMIZER_CLS_NAMES, optimize_loss
from tf_contrib.learn.heads import Head
from tf_contrib.learn.keys import ModeKeys
from tf_contrib.learn.model_fns import ModelFnOps

_v1 = tf.compat.v1
_WIDE_SLICE_BYTES = 64 << 20
_DEEP_RATE = 0.05
_MAX_LINEAR_RATE = 0.2
# An optimizer, its class, its name, or a function that returns one; None: the default.
OptimizerArgument = Any


@dataclass(frozen=True)
class LinearPart:
    """Linear part of a model.

    Attributes:
      columns: Feature columns.
      optimizer: Optimizer.
      is_joint: Whether one variable holds the weights of all columns.
    """

    columns: Sequence[Column]
    optimizer: OptimizerArgument = None
    is_joint: bool = False

    @property
    def rate(self) -> float:
        """Learning rate of an optimizer that is given without one."""
        return min(_MAX_LINEAR_RATE, len(self.columns) ** -0.5)

    def build(self, features: Features, units: int, scope: tf.compat.v1.VariableScope) -> tf.Tensor:
        """Builds the part in the scope and returns its logits."""
        build = (
            joint_weighted_sum_from_feature_columns
            if self.is_joint
            else weighted_sum_from_feature_columns
        )
        return build(features, self.columns, units, weight_collections=["linear"], scope=scope)[0]


@dataclass(frozen=True)
class DeepPart:
    """Deep part of a model.

    Attributes:
      columns: Feature columns.
      hidden_units: Sizes of the hidden layers.
      optimizer: Optimizer.
      activation_fn: Activation of the hidden layers.
      dropout: Probability of dropping a unit, or None.
      min_slice_size: Minimum size in bytes of a slice of the variables of columns; None: 64 MiB.
      rate_multipliers: Factors of the learning rate of embeddings, by their columns.
      separator: Text between the name of a layer and that of its summary.
    """

    columns: Sequence[Column]
    hidden_units: Sequence[int]
    optimizer: OptimizerArgument = None
    activation_fn: Callable[[tf.Tensor], tf.Tensor] | None = tf.nn.relu
    dropout: float | None = None
    min_slice_size: int | None = None
    rate_multipliers: Mapping[Column, float] = field(default_factory=dict)
    separator: str = "_"

    def build(self, features: Features, units: int, servers: int, mode: str) -> tf.Tensor:
        """Builds the part in the current scope and returns its logits."""
        wide = _make_wide_partitioner(servers, self.min_slice_size)
        with _v1.variable_scope("input_from_feature_columns", partitioner=wide) as scope:
            net = input_from_feature_columns(
                features, self.columns, weight_collections=["dnn"], scope=scope
            )
        for index, size in enumerate(self.hidden_units):
            with _v1.variable_scope(f"hiddenlayer_{index}") as scope:
                net = fully_connected(
                    net,
                    size,
                    activation_fn=self.activation_fn,
                    variables_collections=["dnn"],
                    scope=scope,
                )
                if self.dropout is not None and mode == ModeKeys.TRAIN:
                    net = tf.nn.dropout(net, rate=self.dropout)
            _summarize(net, f"{scope.name}{self.separator}")
        with _v1.variable_scope("logits") as scope:
            logits = fully_connected(
                net, units, activation_fn=None, variables_collections=["dnn"], scope=scope
            )
        _summarize(logits, f"{scope.name}{self.separator}")
        return logits

    def find_multipliers(self) -> dict[tf.Variable, float]:
        """Returns the factors of the learning rate by variable."""
        start = "dnn/input_from_feature_columns"
        return {
            variable: factor
            for column, factor in self.rate_multipliers.items()
            for variable in _v1.trainable_variables(f"{start}/{column.name}/")
        }


def _summarize(values: tf.Tensor, start: str) -> None:
    _v1.summary.scalar(f"{start}fraction_of_zero_values", tf.math.zero_fraction(values))
    _v1.summary.histogram(f"{start}activation", values)


def build_linear_model(
    part: LinearPart,
    head: Head,
    clip_norm: float | None,
    features: Features,
    labels: Any,
    mode: str,
    config: v1.RunConfig,
) -> ModelFnOps:
    """Builds a linear model.

    Args:
      part: The linear part.
      head: Head.
      clip_norm: Maximum norm of all gradients, or None.
      features: Features by name.
      labels: Labels.
      mode: One of `ModeKeys`.
      config: The RunConfig.
    """

    def train(loss: tf.Tensor) -> tf.Operation:
        variables = _v1.get_collection("linear")
        gradients = tf.gradients(loss, variables)
        if clip_norm:
            gradients, _ = tf.clip_by_global_norm(gradients, clip_norm)
        optimizer = _create_optimizer(part.optimizer, "Ftrl", part.rate)
        pairs = list(zip(gradients, variables, strict=True))
        return optimizer.apply_gradients(pairs, _v1.train.get_global_step())

    wide = _make_wide_partitioner(_count_servers(config))
    with _v1.variable_scope("linear", partitioner=wide) as scope:
        logits = part.build(features, head.logits_dimension, scope)
        return head.create_model_fn_ops(features, mode, labels, train, logits)


def build_deep_model(
    part: DeepPart,
    head: Head,
    clip_norm: float | None,
    features: Features,
    labels: Any,
    mode: str,
    config: v1.RunConfig,
) -> ModelFnOps:
    """Builds a deep model; see `build_linear_model`."""

    def train(loss: tf.Tensor) -> tf.Tensor:
        return optimize_loss(
            loss,
            _v1.train.get_global_step(),
            _DEEP_RATE,
            part.optimizer or "Adagrad",
            gradient_multipliers=part.find_multipliers(),
            clip_gradients=clip_norm,
            name="dnn",
            summaries=[],
        )

    servers = _count_servers(config)
    hidden = _v1.min_max_variable_partitioner(servers)
    with _v1.variable_scope("dnn", partitioner=hidden):
        logits = part.build(features, head.logits_dimension, servers, mode)
        return head.create_model_fn_ops(features, mode, labels, train, logits)


def build_combined_model(
    linear: LinearPart | None,
    deep: DeepPart | None,
    counts_once: bool,
    head: Head,
    clip_norm: float | None,
    features: Features,
    labels: Any,
    mode: str,
    config: v1.RunConfig,
) -> ModelFnOps:
    """Builds a model of two parts, whose logits are added.

    Args:
      linear: The linear part, or None.
      deep: The deep part, or None.
      counts_once: Whether a step increments the global step once; False: once for each part.
      head: Head.
      clip_norm: Maximum norm of the gradients of a part, or None.
      features: Features by name.
      labels: Labels.
      mode: One of `ModeKeys`.
      config: The RunConfig.
    """
    servers, units = _count_servers(config), head.logits_dimension
    logits = []
    if deep:
        hidden = _v1.min_max_variable_partitioner(servers)
        with _v1.variable_scope("dnn", partitioner=hidden):
            logits.append(deep.build(features, units, servers, mode))
    if linear:
        with _v1.variable_scope("linear", partitioner=_make_wide_partitioner(servers)) as scope:
            logits.append(linear.build(features, units, scope))
            _summarize(logits[-1], "linear/")

    def train(loss: tf.Tensor) -> tf.Operation:
        parts: list[tuple[str, OptimizerArgument, float, Any]] = []
        if deep:
            parts.append(("dnn", deep.optimizer or "Adagrad", _DEEP_RATE, deep.find_multipliers()))
        if linear:
            parts.append(("linear", linear.optimizer or "Ftrl", linear.rate, None))
        step = _v1.train.get_global_step()
        operations = [
            optimize_loss(
                loss,
                step,
                rate,
                optimizer,
                gradient_multipliers=multipliers,
                clip_gradients=clip_norm,
                variables=_v1.get_collection(name),
                name=name,
                summaries=[],
                increment_global_step=not counts_once,
            )
            for name, optimizer, rate, multipliers in parts
        ]
        if counts_once:
            with tf.control_dependencies(operations):
                return _v1.assign_add(step, 1).op
        return tf.group(*operations)

    return head.create_model_fn_ops(features, mode, labels, train, tf.add_n(logits))


def _count_servers(config: v1.RunConfig) -> int:
    return max(1, config.num_ps_replicas)


def _make_wide_partitioner(servers: int, slice_size: int | None = None) -> Callable[..., Any]:
    """Returns the partitioner of the variables of columns."""
    return _v1.min_max_variable_partitioner(servers, min_slice_size=slice_size or _WIDE_SLICE_BYTES)


def _create_optimizer(given: OptimizerArgument, default: str, rate: float) -> Optimizer:
    given = default if given is None else given
    if isinstance(given, str):
        return OPTIMIZER_CLS_NAMES[given](learning_rate=rate)
    return given() if callable(given) else given
