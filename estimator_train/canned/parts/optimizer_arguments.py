"""The optimizers of canned estimators: by name, as an instance, or as a function that makes one."""

from __future__ import annotations

import abc
import copy
import weakref
from typing import Any, ClassVar

import tensorflow as tf
import tf_keras

from estimator_train.engine import tf_internals
from estimator_train.engine.user_functions import user_function
from estimator_train.optimizers.graph_optimizers import legacy_form

_LOG = tf.get_logger()
_v1_train = tf.compat.v1.train
_keras = tf_keras.optimizers


class OptimizerChoice(abc.ABC):
    """An optimizer argument, of which each graph makes an optimizer for itself.

    Args:
      given: Name, instance, or a function without arguments that returns an instance.
      learning_rate: That of an optimizer by name.

    """

    by_name: ClassVar[dict[str, Any]]

    def __init__(self, given: Any, learning_rate: float) -> None:
        self._given = given
        self._learning_rate = learning_rate

    def check(self) -> None:
        """Makes sure that there is an optimizer to train with; what a function makes is seen later.

        Raises:
          ValueError: The name is unknown or the instance is of another kind.
        """
        if isinstance(self._given, str):
            if self._given not in self.by_name:
                raise ValueError(
                    f"Unsupported optimizer name: {self._given}. Supported names are: "
                    f"{tuple(sorted(self.by_name))}"
                )
        elif not callable(self._given):
            self._check(self._given)

    @abc.abstractmethod
    def make(self, step: tf.Variable | None = None) -> Any:
        """Returns an optimizer for the default graph.

        Args:
          step: What it counts its steps in, where that is its own affair.
        """

    def _of_name(self, name: str) -> Any:
        """Makes the optimizer of a name."""
        return self.by_name[name](learning_rate=self._learning_rate)

    def _named_or_called(self) -> Any:
        if isinstance(self._given, str):
            return self._of_name(self._given)
        if not callable(self._given):
            return self._given
        made = user_function(self._given)()
        self._check(made)
        return made

    @abc.abstractmethod
    def _check(self, optimizer: Any) -> None:
        """Raises a ValueError if the optimizer is of another kind."""


class V1Choice(OptimizerChoice):
    """An optimizer of tf.compat.v1.train."""

    by_name: ClassVar[dict[str, Any]] = {
        "Adagrad": _v1_train.AdagradOptimizer,
        "Adam": _v1_train.AdamOptimizer,
        "Ftrl": _v1_train.FtrlOptimizer,
        "RMSProp": _v1_train.RMSPropOptimizer,
        "SGD": _v1_train.GradientDescentOptimizer,
    }

    def make(self, step: tf.Variable | None = None) -> Any:
        """Returns an optimizer for the default graph, which is told of the step as it minimizes."""
        del step
        return self._named_or_called()

    def _check(self, optimizer: Any) -> None:
        if not isinstance(optimizer, _v1_train.Optimizer):
            raise ValueError(
                f"The given object is not an Optimizer instance. Given: {optimizer}. v1 estimators "
                "take those of tf.compat.v1.train."
            )


class KerasChoice(OptimizerChoice):
    """An optimizer of tf_keras."""

    by_name: ClassVar[dict[str, Any]] = {
        "Adagrad": _keras.legacy.Adagrad,
        "Adam": _keras.legacy.Adam,
        "Ftrl": _keras.legacy.Ftrl,
        "RMSProp": _keras.legacy.RMSprop,
        "SGD": _keras.legacy.SGD,
    }

    def __init__(self, given: Any, learning_rate: float) -> None:
        super().__init__(given, learning_rate)
        if isinstance(given, _keras.legacy.Optimizer):
            _keep_unused(given)
        self._of_graphs: weakref.WeakKeyDictionary[tf.Graph, Any] = weakref.WeakKeyDictionary()

    def make(self, step: tf.Variable | None = None) -> Any:
        """Returns the optimizer of the default graph, one for all replicas.

        A legacy instance is used itself in the first graph, and in further ones a copy that was
        made before. Of a new instance the settings are copied as far as there is a legacy form.

        Args:
          step: What a legacy optimizer counts its steps in; by default its own variable.
        """
        graph = tf.compat.v1.get_default_graph()
        if graph not in self._of_graphs:
            made = self._named_or_called()
            if isinstance(made, _keras.Optimizer) and not tf.distribute.has_strategy():
                _order_first_values(made)
            if made is self._given:
                made = _for_one_graph(made)
            if step is not None and isinstance(made, _keras.legacy.Optimizer):
                made.iterations = step
            self._of_graphs[graph] = made
        return self._of_graphs[graph]

    def _check(self, optimizer: Any) -> None:
        if isinstance(optimizer, (_keras.Optimizer, _keras.legacy.Optimizer)):
            return
        raise ValueError(
            "The given object is not a tf.keras.optimizers.Optimizer instance. Given: "
            f"{optimizer}. Use one of tf_keras.optimizers; those of tf.compat.v1.train are for the "
            "estimators of estimator_train.compat.v1."
        )


# Legacy optimizers that were given, and what they were before a graph used them.
_unused: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def _keep_unused(optimizer: Any) -> None:
    """Keeps a copy of a legacy optimizer, unless it has variables already or cannot be copied."""
    if optimizer in _unused or optimizer.variables():
        return
    try:
        _unused[optimizer] = copy.deepcopy(optimizer)
    except Exception:  # noqa: BLE001  Of a lock among its attributes, or by a copy of its own.
        _LOG.warning(
            "The optimizer %r cannot be copied, so it serves for one training only. Give a "
            "function that makes it to train several times.", optimizer,
        )  # fmt: skip


def _for_one_graph(optimizer: Any) -> Any:
    """An instance that no other graph uses: the given one, or a copy of it."""
    if isinstance(optimizer, _keras.legacy.Optimizer):
        if not optimizer.variables():
            return optimizer
        if optimizer in _unused:
            return copy.deepcopy(_unused[optimizer])
    return legacy_form(optimizer) or optimizer


def _order_first_values(optimizer: Any) -> None:
    """Has a scheduled learning rate take its first value once the steps it reads have theirs."""
    rate, steps = getattr(optimizer, "_current_learning_rate", None), optimizer.iterations
    stack = [rate.initializer] if rate is not None else []
    seen = set()
    while stack:
        operation = stack.pop()
        if operation.type == "ReadVariableOp" and operation.inputs[0] is steps.handle:
            tf_internals.run_after(operation, steps.initializer)
        elif operation.name not in seen:
            seen.add(operation.name)
            stack += [tensor.op for tensor in operation.inputs]
