"""Arguments of canned estimators: their types, default heads and optimizers."""

from __future__ import annotations

import abc
import copy
import os
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Protocol, TypeAlias

import tensorflow as tf
import tf_keras

from estimator_train.engine.checkpoints.warm_start import WarmStartSettings
from estimator_train.engine.job import convert_on_replica
from estimator_train.engine.tf_internals import graphs
from estimator_train.engine.tf_internals.modes import enter_eager_mode
from estimator_train.heads import BinaryClassHead, Head, MultiClassHead, RegressionHead
from estimator_train.heads.keys import LossFn, Optimizer, WeightColumn
from estimator_train.heads.v1 import V1BinaryClassHead, V1MultiClassHead, V1RegressionHead
from estimator_train.optimizers.base import read_config
from estimator_train.optimizers.graph_optimizers import make_legacy_form
from estimator_train.run_config import RunConfig

OptimizerArgument: TypeAlias = str | Optimizer | Callable[[], Optimizer]
ActivationFn: TypeAlias = Callable[[tf.Tensor], tf.Tensor] | str
Partitioner: TypeAlias = Callable[..., Sequence[int]]
Config: TypeAlias = RunConfig | None
ModelDir: TypeAlias = str | os.PathLike[str] | None
WarmStart: TypeAlias = str | WarmStartSettings | None
_LOG = tf.get_logger()
_v1_train = tf.compat.v1.train
_keras = tf_keras.optimizers
# Legacy optimizers of users, and copies from before a graph used them.
_unused_copies: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


class FeatureColumn(Protocol):
    """Column of `tf.feature_column` or `tf.compat.v1.feature_column`."""

    name: str

    def __getattr__(self, name: str) -> Any:
        """Returns an attribute that depends on the kind of column."""


FeatureColumns: TypeAlias = FeatureColumn | Iterable[FeatureColumn]


def make_classifier_head(
    n_classes: int,
    weight_column: WeightColumn,
    label_vocabulary: Sequence[str] | None,
    loss_reduction: str,
    *,
    v1: bool = False,
    multi_class_loss_fn: LossFn | None = None,
) -> Head:
    """Returns the head of a classifier; for arguments and errors see the heads, of v1 or not."""
    shared: dict[str, Any] = {
        "weight_column": weight_column,
        "label_vocabulary": label_vocabulary,
        "loss_reduction": loss_reduction,
    }
    if n_classes == 2:
        return V1BinaryClassHead(**shared) if v1 else BinaryClassHead(**shared)
    multi = V1MultiClassHead if v1 else MultiClassHead
    return multi(n_classes, loss_fn=multi_class_loss_fn, **shared)


def make_regressor_head(
    label_dimension: int, weight_column: WeightColumn, loss_reduction: str, *, v1: bool = False
) -> Head:
    """Returns the head of a regressor; for arguments and errors see the heads, of v1 or not."""
    kind = V1RegressionHead if v1 else RegressionHead
    return kind(label_dimension, weight_column, loss_reduction)


class OptimizerChoice(abc.ABC):
    """Optimizer argument of a canned estimator; it creates an optimizer for each graph.

    Args:
      given: Name, instance, or a function without arguments that returns an instance.
      learning_rate: Learning rate of an optimizer that is given by name.
    """

    by_name: ClassVar[dict[str, Any]]

    def __init__(self, given: OptimizerArgument, learning_rate: float) -> None:
        self._argument = given
        self._learning_rate = learning_rate

    def check(self) -> None:
        """Checks a name or an instance; the result of a function is checked when it is called.

        Raises:
          ValueError: The name is unknown or the instance is of another kind.
        """
        if isinstance(self._argument, str):
            if self._argument not in self.by_name:
                raise ValueError(
                    f"Unsupported optimizer name: {self._argument}. Supported names are: "
                    f"{tuple(sorted(self.by_name))}"
                )
        elif not callable(self._argument):
            self._check(self._argument)

    @abc.abstractmethod
    def make(self, step: tf.Variable | None = None) -> Any:
        """Returns an optimizer for the default graph.

        Args:
          step: Variable in which the optimizer counts its steps, if it does so.
        """

    def _create_by_name(self, name: str) -> Any:
        """Creates the optimizer of a name."""
        return self.by_name[name](learning_rate=self._learning_rate)

    def _resolve(self) -> Any:
        if isinstance(self._argument, str):
            return self._create_by_name(self._argument)
        if not callable(self._argument):
            return self._argument
        made = convert_on_replica(self._argument)()
        self._check(made)
        return made

    @abc.abstractmethod
    def _check(self, optimizer: Optimizer) -> None:
        """Raises a ValueError if the optimizer is of another kind."""


class V1Choice(OptimizerChoice):
    """Optimizer of tf.compat.v1.train."""

    by_name: ClassVar[dict[str, Any]] = {
        "Adagrad": _v1_train.AdagradOptimizer,
        "Adam": _v1_train.AdamOptimizer,
        "Ftrl": _v1_train.FtrlOptimizer,
        "RMSProp": _v1_train.RMSPropOptimizer,
        "SGD": _v1_train.GradientDescentOptimizer,
    }

    def make(self, step: tf.Variable | None = None) -> Any:
        """Returns an optimizer for the default graph, whose `minimize` takes the step."""
        return self._resolve()

    def _check(self, optimizer: Optimizer) -> None:
        if not isinstance(optimizer, _v1_train.Optimizer):
            raise ValueError(
                f"The given object is not an Optimizer instance. Given: {optimizer}. v1 estimators "
                "take those of tf.compat.v1.train."
            )


class KerasChoice(OptimizerChoice):
    """Optimizer of tf_keras."""

    by_name: ClassVar[dict[str, Any]] = {
        "Adagrad": _keras.legacy.Adagrad,
        "Adam": _keras.legacy.Adam,
        "Ftrl": _keras.legacy.Ftrl,
        "RMSProp": _keras.legacy.RMSprop,
        "SGD": _keras.legacy.SGD,
    }

    def __init__(self, given: OptimizerArgument, learning_rate: float) -> None:
        super().__init__(given, learning_rate)
        if isinstance(given, _keras.legacy.Optimizer):
            _copy_unused(given)
        self._by_graph: weakref.WeakKeyDictionary[tf.Graph, Any] = weakref.WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        """Makes copies and pickles of an Estimator begin without the optimizers of its graphs."""
        given = self._argument
        if isinstance(given, _keras.legacy.Optimizer):
            given = _unused_copies.get(given, given)
        if isinstance(given, _keras.Optimizer):  # It has references that pickle refuses.
            with enter_eager_mode():
                config = read_config(given)
            return _restore_choice, (type(self), type(given), config, self._learning_rate)
        return type(self), (given, self._learning_rate)

    def make(self, step: tf.Variable | None = None) -> Any:
        """Returns the optimizer of the default graph, one for all replicas.

        The first graph uses a legacy instance, further graphs use an earlier copy. A new instance
        is converted to its legacy form if it has one.

        Args:
          step: Variable in which a legacy optimizer counts its steps; by default its own.
        """
        graph = tf.compat.v1.get_default_graph()
        if graph not in self._by_graph:
            made = self._resolve()
            if isinstance(made, _keras.Optimizer) and not tf.distribute.has_strategy():
                _order_initializers(made)
            if made is self._argument:
                made = _copy_for_graph(made)
            if step is not None and isinstance(made, _keras.legacy.Optimizer):
                made.iterations = step
            self._by_graph[graph] = made
        return self._by_graph[graph]

    def _check(self, optimizer: Optimizer) -> None:
        if isinstance(optimizer, (_keras.Optimizer, _keras.legacy.Optimizer)):
            return
        raise ValueError(
            "The given object is not a tf.keras.optimizers.Optimizer instance. Given: "
            f"{optimizer}. Use one of tf_keras.optimizers; those of tf.compat.v1.train are for the "
            "estimators of estimator_train.compat.v1."
        )


def _restore_choice(
    choice: type[KerasChoice], optimizer: type[Any], config: dict[str, Any], learning_rate: float
) -> KerasChoice:
    with enter_eager_mode():
        return choice(optimizer.from_config(config), learning_rate)


def _copy_unused(optimizer: Optimizer) -> None:
    """Keeps a copy of a legacy optimizer, unless it has variables already or cannot be copied."""
    if optimizer in _unused_copies or optimizer.variables():
        return
    try:
        _unused_copies[optimizer] = copy.deepcopy(optimizer)
    except Exception:  # noqa: BLE001  A lock among its attributes, or any error of its __deepcopy__.
        _LOG.warning(
            "The optimizer %r cannot be copied and can train only once. Give a function that makes "
            "it to train several times.",
            optimizer,
        )


def _copy_for_graph(optimizer: Optimizer) -> Any:
    """Returns an instance that no other graph uses: the given one or a copy."""
    if isinstance(optimizer, _keras.legacy.Optimizer):
        if not optimizer.variables():
            return optimizer
        if optimizer in _unused_copies:
            return copy.deepcopy(_unused_copies[optimizer])
    return make_legacy_form(optimizer) or optimizer


def _order_initializers(optimizer: Optimizer) -> None:
    """Initializes a scheduled learning rate after the steps that it reads."""
    rate, steps = getattr(optimizer, "_current_learning_rate", None), optimizer.iterations
    initializer = getattr(rate, "initializer", None)  # A variable of eager code has none.
    for operation in graphs.walk([] if initializer is None else [initializer]):
        if operation.type == "ReadVariableOp" and operation.inputs[0] is steps.handle:
            graphs.run_after(operation, steps.initializer)
