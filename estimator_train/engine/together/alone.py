"""Training in one process; and all that a training asks of the processes that it has to do with.

The engine asks one object of this class, `Synchronous` or `Asynchronous`, and never its class.
"""

import contextlib
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.cluster import MASTER, WORKER
from estimator_train.engine.checkpoints.save_schedule import SaveSchedule
from estimator_train.engine.loops.training_loop import WorkerCoordinator
from estimator_train.engine.together.server import runs_here
from estimator_train.engine.types import Hook, SaverHook, StepFetches, Strategy
from estimator_train.lifecycle.step_timeout import StepTimeout
from estimator_train.run_config import RunConfig

# Ends the type of each operation that takes the summed gradients of several workers.
_TAKES_GRADIENTS = "AccumulatorTakeGradient"


def needs_other_workers(graph: tf.Graph) -> bool:
    """Returns whether a step takes gradients of several workers, as SyncReplicasOptimizer does.

    Args:
      graph: The graph of a training.
    """
    return any(op.type.endswith(_TAKES_GRADIENTS) for op in graph.get_operations())


class Alone:
    """Process that trains without others; its subclasses override what differs with others.

    Args:
      config: The configuration of the training, its cluster resolved.

    Attributes:
      device: Device of the process in a graph with variables on parameter servers; None in other
        graphs.
      shard: Index of the input pipeline of a process that shares its input with others, and the
        number of pipelines; None for a process that calls input_fn for all of the input.
      shares_global_step: Whether other processes increment the global step too.
      shares_variables: Whether other processes change the variables while this one saves them.
    """

    device: str | None = None
    shard: tf.distribute.InputContext | None = None
    shares_global_step = False
    shares_variables = False

    def __init__(self, config: RunConfig) -> None:
        self._config = config

    @property
    def steps_per_call(self) -> int | str:
        """Maximum number of training steps in a session call; "auto" for no limit."""
        # TF_CONFIG may name a session_master without a cluster.
        return 1 if self._config.master else self._config.steps_per_loop

    @property
    def writes_events(self) -> bool:
        """Whether this task writes the summaries and steps per second of a training.

        If a master pauses training to evaluate, worker 0 writes them.
        """
        if {MASTER, WORKER} <= set(self._config.cluster_spec.jobs):
            return (self._config.task_type, self._config.task_id) == (WORKER, 0)
        return bool(self._config.is_chief)

    @property
    def initializes_variables(self) -> bool:
        """Whether this process initializes or restores the variables, and waits for no chief."""
        return bool(self._config.is_chief)

    @property
    def receives_initial_values(self) -> bool:
        """Whether the chief sends this process the first values of the variables."""
        return False

    def join(self, max_steps: int | None) -> contextlib.AbstractContextManager[list[Hook]]:
        """Returns the context of a call of `train`, in which this task is part of its cluster.

        Args:
          max_steps: The global step at which the training ends, or None.

        Returns:
          A context manager that yields the hooks that sessions of this task need.
        """
        del max_steps
        return contextlib.nullcontext([])

    def make_placement(self) -> Callable[[Any], str] | None:
        """Returns a device function that spreads variables over other tasks, or None."""
        return None

    def runs_here(self, master: str) -> bool:
        """Returns whether sessions that connect to an address run operations in this process."""
        return runs_here(master)

    def find_shard_of_replica(self, strategy: Strategy) -> tf.distribute.InputContext | None:
        """Returns the shard of a worker of one replica, which reads its input itself.

        Args:
          strategy: The strategy of the training.

        Returns:
          The shard; None if the strategy distributes the input.
        """
        del strategy
        return None

    def make_coordinator(
        self, strategy: Strategy | None, has_next: tf.Tensor | None
    ) -> WorkerCoordinator:
        """Returns the coordinator that decides when loops run and when training ends.

        Args:
          strategy: The strategy of the training, or None.
          has_next: Whether the input has another element, a bool scalar, if the workers vote.
        """
        del strategy, has_next
        return WorkerCoordinator()

    def make_step_timeout(self) -> StepTimeout | None:
        """Returns the clock of steps, if they have a time limit or wait for other workers."""
        secs = self._config.step_timeout_secs
        return StepTimeout(secs) if secs else None

    def build_local_secs(self, train_op: tf.Operation | tf.Tensor) -> tf.Tensor | None:
        """Builds the seconds of this worker's own part of a step, if it waits for others then."""

    def keep_broadcasts(self, global_step: tf.Variable, fed: Any) -> None:
        """Makes the chief send fed initial values; see `tf_internals.strategies`."""

    def list_saved_values(self, strategy: Strategy | None) -> list[Any] | None:
        """Returns the variables that a Saver saves and restores; None for all of the graph."""

    def combine_transfers(self, fetches: StepFetches) -> None:
        """Rewrites the default graph so that tasks send their small tensors together."""

    def pace_saves(self, saver: SaverHook, schedule: SaveSchedule) -> None:
        """Makes a chief save early enough for the steps that other workers make meanwhile.

        Args:
          saver: The chief's saver hook; the default graph is complete, and no session is open.
          schedule: The schedule of the hook.
        """

    def configure_session(self, settings: tf.compat.v1.ConfigProto, graph: tf.Graph) -> None:
        """Changes the configuration of a training session for the cluster."""

    def wrap_creator(
        self, creator: tf.compat.v1.train.SessionCreator
    ) -> tf.compat.v1.train.SessionCreator:
        """Returns a session creator that first waits for other tasks."""
        return creator
