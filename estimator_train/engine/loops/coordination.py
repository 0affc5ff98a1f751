"""Decisions that the workers of a training share: when loops run, and when training ends.

A process that trains alone has the `WorkerCoordinator` of this file. Synchronous workers have the
one of `engine.distributed.sync_coordinator`, which lets them vote with every step.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import tensorflow as tf

from estimator_train.engine.hook_types import Hook


@dataclasses.dataclass(frozen=True)
class LoopVote:
    """Tensors by which synchronous workers decide after each step whether their loop continues.

    Attributes:
      has_next: Whether this worker has input for one more step, a bool scalar of the step's graph.
      ballot: Two bool scalars that the loop replaces: `has_next`, and whether this worker wants
        another step.
      result: Whether all workers answered True to each, bool [2].
    """

    has_next: tf.Tensor
    ballot: tuple[tf.Tensor, tf.Tensor]
    result: tf.Tensor


@dataclasses.dataclass
class WorkerAgreement:
    """Results of the workers' last vote; all None in a process that does not vote.

    Attributes:
      has_more: Whether all workers have input for another step.
      chief_saves: Whether the chief writes a checkpoint after the step of the vote.
      restored_has_next: Whether the input has another element at the position that a new session
        restored; None if the input is at its start.
    """

    has_more: bool | None = None
    chief_saves: bool | None = None
    restored_has_next: bool | None = None


class WorkerCoordinator:
    """Coordinator of a process that trains alone: it follows this process's own wishes.

    Attributes:
      hooks: Hooks that the session must call for the coordinator.
    """

    hooks: Sequence[Hook] = ()

    def count_loop_steps(self, wanted: int) -> int:
        """Returns how many steps the loop that comes next may run; 0 for no loop.

        Args:
          wanted: Steps that this process would run in a loop; 0 if a hook must see the next step.
        """
        return wanted

    def propose_loop(self, can_loop_next: Callable[[], bool]) -> None:
        """Receives this worker's wish before each step that hooks see.

        Args:
          can_loop_next: Returns whether this worker could run a loop after that step.
        """

    def finish_loop(self, has_more: bool) -> bool:
        """Returns whether training ends after a loop.

        Args:
          has_more: Whether all workers have input for another step.
        """
        return not has_more
