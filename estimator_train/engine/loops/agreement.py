"""How workers that make each step together come to run the same loops."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from estimator_train.engine.loops.graph_loop import LoopVote


class LoopAgreement:
    """Whether a loop comes after the step that was just made, as all workers said with that step.

    None may run a loop alone: the others would wait for it in another session call. And none may
    stay away from one that was agreed on.

    Args:
      vote: How they agree, within a loop, when it ends.
      end_of_input: Called when a loop ended since a worker has no more input.

    Attributes:
      vote: The same.
      end_of_input: The same.
      agreed: Whether a loop comes next.
      wants: Whether this worker could run one after the next step; set by who runs the steps.
      run_one: Runs a loop of one step in a raw session, and returns False if a worker has no more
        input then; set likewise.
    """

    def __init__(self, vote: LoopVote, end_of_input: Callable[[], None]) -> None:
        self.vote, self.end_of_input = vote, end_of_input
        self.agreed = False
        self.wants: Callable[[], bool] = lambda: False
        self.run_one: Callable[[tf.compat.v1.Session], bool] = lambda session: True

    def taken_up(self) -> bool:
        """Returns whether a loop comes next; only the first one who asks runs it."""
        agreed, self.agreed = self.agreed, False
        return agreed
