"""The start of an input in each session of a graph."""

import tensorflow as tf

from estimator_train.engine.hook_types import Hook, PassiveHook
from estimator_train.engine.inputs.input_fn import Inputs
from estimator_train.engine.inputs.optimized_start import optimize_start
from estimator_train.goodput.clock import INPUT, process_clock


def start_hooks(inputs: Inputs) -> list[Hook]:
    """Returns the hooks that start an input in each new session."""
    return [] if inputs.iterator is None else [InitializeInput(inputs)]


class InitializeInput(PassiveHook):
    """Hook that runs a dataset iterator's initializer in every new session.

    The session has initialized its tables before: a dataset may read them.

    Args:
      inputs: The input, a dataset's.
    """

    def __init__(self, inputs: Inputs) -> None:
        self._initializer, self._iterator = inputs.initializer, inputs.iterator

    def begin(self) -> None:
        """Turns off autotuning if the dataset has nothing to tune."""
        self._initializer = optimize_start(self._initializer, self._iterator)

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Rewinds the input to its start."""
        del coord
        with process_clock.spend(INPUT):
            session.run(self._initializer)
