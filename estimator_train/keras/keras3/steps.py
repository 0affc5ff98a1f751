"""A Keras 3 model in the default graph, with all its variables, and its steps."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypeVar

import keras
import numpy as np
import tensorflow as tf

from estimator_train.engine.tf_internals.modes import enter_eager_mode, make_function_graph
from estimator_train.engine.tf_internals.strategies import share_collectives_of_graphs
from estimator_train.keras.copied_layers import InitialValues
from estimator_train.keras.keras3.blueprint import Keras3Blueprint, list_model_variables
from estimator_train.keras.keras3.keras_internals import (
    VariableNames,
    build_symbolically,
    isolate_state,
    list_metric_variables,
)
from estimator_train.keras.model_io import Structure

# What `train_step` takes, (x,), (x, y) or (x, y, sample_weight), and what it returns.
Data: TypeAlias = Any
Logs: TypeAlias = dict[str, tf.Tensor]
LOSS = "loss"
# By name: the value to read after all batches, and the update.
Metrics: TypeAlias = dict[str, tuple[tf.Tensor, tf.Tensor]]
_Built = TypeVar("_Built")


@dataclasses.dataclass(frozen=True)
class Keras3GraphModel:
    """A Keras 3 model in the default graph.

    Attributes:
      model: The model.
      feeds: Feed_dict that initializes it with the values of the user's model.
    """

    model: keras.Model
    feeds: dict[tf.Tensor, np.ndarray]


def build_model(
    blueprint: Keras3Blueprint, first_call: Callable[[keras.Model], object], *, is_trained: bool
) -> Keras3GraphModel:
    """Makes a model with all its variables in the default graph.

    Args:
      blueprint: Makes the model.
      first_call: Makes the variables that layers and metrics make in their first calls.
      is_trained: Whether checkpoints have the variables of the optimizer.
    """
    values = InitialValues()
    with values.record_variables(), name_keras_variables(blueprint):
        model = blueprint.make()
        first_call(model)
        if is_trained and model.optimizer is not None and not model.optimizer.built:
            model.optimizer.build(model.trainable_variables)
    feeds = {}
    if blueprint.fits(model):
        variables = [variable.value for variable in list_model_variables(model)]
        feeds = values.make_feeds(variables, blueprint.values)
    unsaved = list_metric_variables(model)
    if not is_trained and model.optimizer is not None:
        unsaved += model.optimizer.variables
    _make_local(variable.value for variable in unsaved)
    return Keras3GraphModel(model, feeds)


@contextlib.contextmanager
def name_keras_variables(blueprint: Keras3Blueprint) -> Iterator[None]:
    """Names the variables that Keras creates inside this context.

    Other creators of variables get these names in contexts that enclose this one.
    """
    names = VariableNames(blueprint.model if blueprint.has_given_names else None)
    with isolate_state(), tf.variable_creator_scope(names.creator):
        yield


def _make_local(variables: Iterable[tf.Variable]) -> None:
    """Makes variables local: sessions initialize them, and checkpoints do not have them."""
    keys = tf.compat.v1.GraphKeys
    saved = tf.compat.v1.get_collection_ref(keys.GLOBAL_VARIABLES)
    for variable in variables:
        parts = [variable, *tf.distribute.get_strategy().experimental_local_results(variable)]
        saved[:] = [other for other in saved if all(other is not part for part in parts)]
        tf.compat.v1.add_to_collection(keys.LOCAL_VARIABLES, variable)
        tf.compat.v1.add_to_collection(keys.METRIC_VARIABLES, variable)


def run_once_for_all_replicas(
    build: Callable[[Data], tuple[_Built, Logs]], data: Data
) -> tuple[_Built | None, Logs]:
    """Builds operations once, also if each replica of a strategy calls this function.

    Args:
      build: Takes the batches of all replicas; returns a result, and logs with a value per replica.
      data: The batch, or that of this replica.

    Returns:
      The result, or None on all replicas but one; and the logs of this replica.
    """
    if not tf.distribute.has_strategy() or tf.distribute.in_cross_replica_context():
        return build(data)
    results: list[_Built] = []

    def merge(strategy: tf.distribute.Strategy, data: Data) -> Logs:
        result, logs = build(data)
        results.append(result)
        return logs

    logs = tf.distribute.get_replica_context().merge_call(merge, args=(data,))
    return (results[0] if results else None), logs


def make_variables(model: keras.Model, step: Callable[[Data], object], data: Data) -> None:
    """Makes the variables that layers, metrics and losses make when a step calls them.

    Args:
      model: The model.
      step: A step of the model.
      data: The batch, with a value per replica under a strategy.
    """
    if tf.distribute.has_strategy():
        build_symbolically(model, take_first_replica(data))
        return
    # The operations of this call are not part of the graph; its variables are.
    with make_function_graph("first_call"):
        step(data)


def take_first_replica(data: Structure) -> Structure:
    """Returns the values of the first replica of this process."""
    strategy = tf.distribute.get_strategy()
    return tf.nest.map_structure(lambda t: strategy.experimental_local_results(t)[0], data)


def train_step(model: keras.Model, data: Data, *, keeps_metrics: bool) -> Logs:
    """Adds one call of the model's `train_step`; returns its logs.

    Args:
      model: The model.
      data: The batch, with a value per replica under a strategy.
      keeps_metrics: Whether metrics continue from step to step, as in an epoch of `fit`; they
        otherwise show the batch alone. The loss is that of the batch in both cases.
    """

    def step(data: Data) -> Logs:
        if not keeps_metrics:
            model.reset_metrics()
        return _add_loss_of_batch(model, lambda: model.train_step(data))

    return _call(model, step, data)


def test_step(model: keras.Model, data: Data) -> Logs:
    """Adds one call of the model's `test_step`; returns its logs over all batches so far."""
    return _call(model, lambda data: _add_loss_of_batch(model, lambda: model.test_step(data)), data)


def predict_step(model: keras.Model, x: Structure) -> Structure:
    """Adds one call of the model's `predict_step`; returns its outputs."""
    return _call_function(lambda x: model.predict_step((x,)), x, jit_compile=model.jit_compile)


def _call(model: keras.Model, step: Callable[[Data], Logs], data: Data) -> Logs:
    """Calls a step of a model as `fit` does: assignments run in the order of the code."""

    def step_after_data(data: Data) -> Logs:
        # At the end of the input nothing runs, not even a count that does not depend on a batch.
        tensors = tf.nest.flatten(data, expand_composites=True)
        with tf.control_dependencies([tensor for tensor in tensors if tensor is not None]):
            return flatten_logs(step(data))

    def run(data: Data) -> Logs:
        if not tf.distribute.has_strategy():
            return step_after_data(data)
        return tf.distribute.get_strategy().run(step_after_data, args=(data,))

    return _call_function(run, data, jit_compile=model.jit_compile)


def _call_function(
    function: Callable[..., Structure], *arguments: Structure, jit_compile: bool = False
) -> Structure:
    """Calls a function as a graph of its own, with automatic control dependencies.

    Inside of a tf.Graph, `==` of tensors compares identity, but not in a function that eager code
    traces, as that of `fit`.
    """
    traced = tf.function(function, autograph=False, jit_compile=jit_compile)
    with share_collectives_of_graphs(tf.distribute.get_strategy()), enter_eager_mode():
        concrete = traced.get_concrete_function(*arguments)
    return concrete(*arguments)


def _add_loss_of_batch(model: keras.Model, step: Callable[[], Logs]) -> Logs:
    """Calls a step; returns its logs, with the loss of the batch in place of the mean so far."""
    trackers = [m for m in model.metrics if m.name == LOSS and isinstance(m, keras.metrics.Mean)]
    if not trackers:
        return step()
    variables = [variable.value for variable in trackers[0].variables]
    before = [tf.identity(variable) for variable in variables]
    trackers[0].reset_state()
    logs = step()
    for variable, value in zip(variables, before, strict=True):
        variable.assign_add(value)
    return logs


def find_loss(logs: Logs) -> tf.Tensor:
    """Returns the loss among the logs of a step: "loss", or else the first.

    Raises:
      ValueError: There are no logs.
    """
    if not logs:
        raise ValueError(
            "The step of the Keras model returned no logs. Return a dict with at least a loss, "
            "such as {metric.name: metric.result() for metric in self.metrics}."
        )
    return logs.get(LOSS, next(iter(logs.values())))


def flatten_logs(logs: Structure) -> Logs:
    """Returns logs as names to tensors; a metric may have a dict of results."""
    flat: Logs = {}
    for name, value in logs.items():
        if isinstance(value, dict):
            flat.update(flatten_logs(value))
        else:
            flat[name] = tf.convert_to_tensor(value)
    return flat


def list_results(model: keras.Model) -> Logs:
    """Returns the values of a model's metrics over all batches and replicas so far."""
    return _call_function(lambda: flatten_logs(model.get_metrics_result()))


def list_metric_results(model: keras.Model, logs: Logs) -> Metrics:
    """Returns the metrics for the logs of an evaluation, without the loss.

    Args:
      model: The model.
      logs: The logs of its `test_step`, with a value per replica under a strategy.
    """
    results = list_results(model)
    strategy = tf.distribute.get_strategy()
    pairs = {}
    for name, value in logs.items():
        if tf.distribute.has_strategy():
            value = strategy.reduce(tf.distribute.ReduceOp.MEAN, value, axis=None)
        if name != LOSS:
            pairs[name] = (results[name], value) if name in results else _create_last_value(value)
    return pairs


def _create_last_value(value: tf.Tensor) -> tuple[tf.Variable, tf.Tensor]:
    """Creates a local variable; returns it and the assignment of a value."""
    variable = tf.compat.v1.Variable(
        tf.zeros(value.shape, value.dtype),
        trainable=False,
        collections=[tf.compat.v1.GraphKeys.LOCAL_VARIABLES],
    )
    return variable, variable.assign(value)
