"""A model that a call of `evaluate` or `predict` builds, before it has a session."""

import abc
import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

import tensorflow as tf

from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.hook_types import Hook
from estimator_train.engine.inputs.input_fn import Inputs
from estimator_train.engine.type_aliases import InputFn, Strategy

Fetches = TypeVar("Fetches")


@dataclasses.dataclass(frozen=True)
class BuiltModel(Generic[Fetches]):
    """A model's graph, ready for a session.

    Attributes:
      graph: The graph.
      inputs: The tensors that a batch is read from.
      scaffold: The model's Scaffold.
      hooks: Hooks of the model, for the session.
      fetches: The tensors that a batch computes.
      final: Tensors to read when the input has ended, by name.
    """

    graph: tf.Graph
    inputs: Inputs
    scaffold: tf.compat.v1.train.Scaffold
    hooks: Sequence[Hook]
    fetches: Fetches
    final: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class ModelJob(abc.ABC, Generic[Fetches]):
    """One call of `evaluate` or `predict`.

    Attributes:
      mode: ModeKeys.EVAL or ModeKeys.PREDICT.
      purpose: The verb, for the log.
      start_message: Log line with a place for the time when the model is ready to be restored; None
        for no line.
      context: The estimator that is run.
      input_fn: The user's input_fn.
      hooks: Hooks of the caller.
      master: The address that the session connects to; empty for a session in this process.
      strategy: The strategy that the model is built under, or None.
    """

    mode: ClassVar[str]
    purpose: ClassVar[str]
    start_message: ClassVar[str | None] = None
    context: EstimatorContext
    input_fn: InputFn
    hooks: Sequence[Hook]
    master: str
    strategy: Strategy | None

    @abc.abstractmethod
    def build(self, checkpoint_path: str | None) -> BuiltModel[Fetches]:
        """Builds the model in a new graph.

        Args:
          checkpoint_path: The checkpoint that the session restores, or None.
        """
