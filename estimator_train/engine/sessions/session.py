"""Sessions of the engine: their configuration and their creation."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext

import tensorflow as tf

from estimator_train.engine.checkpoints import storage
from estimator_train.engine.checkpoints.integrity import (
    fingerprint_checkpoint,
    latest_checkpoint,
    read_checkpoint_list,
)
from estimator_train.engine.checkpoints.memory_copy import find_copy, find_interim_copy
from estimator_train.engine.checkpoints.model_dir import repair_checkpoint_list
from estimator_train.engine.checkpoints.reading import is_damaged
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.distributed.ps_task import WaitForPsCreator
from estimator_train.engine.distributed.sync_watchdog import WaitForPeersCreator
from estimator_train.engine.graph.mixed_precision import enable_casts
from estimator_train.engine.hook_types import Hook
from estimator_train.engine.loops.training_loop import needs_other_workers
from estimator_train.engine.sessions.initial_fills import fill_variables
from estimator_train.engine.sessions.restore import prepare_restore
from estimator_train.engine.sessions.worker_session import PromptSessionCreator
from estimator_train.engine.tf_internals import graph_messages
from estimator_train.engine.tf_internals.tensor_sizes import count_bytes
from estimator_train.engine.type_aliases import Strategy
from estimator_train.goodput.clock import RESTORE, process_clock
from estimator_train.run_config.topology import is_multi_worker

# Time that a session waits for its threads when it closes. The thread of a chief that sums the
# gradients of workers ends only with the session.
_STOP_GRACE_SECS = 120
_STOP_GRACE_OF_SUMMING_SECS = 2
_LARGE_CONSTANTS_BYTES = 64 * 2**20


def make_session_config(
    context: EstimatorContext, strategy: Strategy | None = None
) -> tf.compat.v1.ConfigProto:
    """Returns the configuration of sessions, with a CPU device for each replica of the strategy.

    A session creates its devices itself, as many as `device_count`. The logical CPU devices of
    eager code do not count.
    """
    config = tf.compat.v1.ConfigProto()
    config.CopyFrom(context.session_config)
    if strategy is None:
        return config
    devices = [tf.DeviceSpec.from_string(d) for d in strategy.extended.worker_devices]
    cpus = [d.device_index for d in devices if d.device_type == "CPU"]
    config.device_count["CPU"] = max([config.device_count.get("CPU", 1), *(i + 1 for i in cpus)])
    config = strategy.update_config_proto(config)
    if is_multi_worker(strategy):
        # This optimization would merge collectives, differently in the chief's larger graph, so
        # that workers would wait for the wrong ones. On CPUs it gains nothing.
        rewrites = config.graph_options.rewrite_options
        rewrites.scoped_allocator_optimization = rewrites.OFF
    return config


def open_training_session(
    context: EstimatorContext,
    scaffold: tf.compat.v1.train.Scaffold,
    strategy: Strategy | None,
    hooks: Sequence[Hook],
    on_restored: Callable[[str | None, bool], None],
) -> tf.compat.v1.train.MonitoredSession:
    """Opens a session that trains the default graph from the latest checkpoint.

    Args:
      context: The estimator that is trained.
      scaffold: The model's Scaffold.
      strategy: The strategy that the model was built under, or None.
      hooks: All hooks of the session.
      on_restored: Called before the hooks with the latest checkpoint, or None, and with whether the
        session restored an interim copy, of a later step, in its place.
    """
    config, topology = context.config, context.topology
    graph = tf.compat.v1.get_default_graph()
    settings = make_session_config(context, strategy)
    if topology.is_asynchronous and _calls_functions(graph):
        # Without it, a tf.function cannot use variables of parameter servers.
        settings.experimental.share_cluster_devices_in_session = True
    rewrites = settings.graph_options.rewrite_options
    if not rewrites.common_subgraph_elimination and _has_large_constants(graph):
        # It would expand the constants to compare them, such as the initial values of the slots of
        # embeddings: a second for 500 MB.
        rewrites.common_subgraph_elimination = rewrites.OFF
    if config.mixed_precision:
        enable_casts(settings, config.mixed_precision)
    creator: tf.compat.v1.train.SessionCreator
    # Each synchronous worker has its variables, and initializes or restores them itself.
    if config.is_chief or topology.is_synchronous:
        creator = _LatestCheckpointSessionCreator(scaffold, settings, context, on_restored)
    else:
        creator = PromptSessionCreator(
            scaffold, config.master, settings, config.session_creation_timeout_secs
        )
    if topology.is_synchronous:
        creator = WaitForPeersCreator(config, creator)
    elif topology.is_asynchronous:
        creator = WaitForPsCreator(config, creator)
    grace = _STOP_GRACE_OF_SUMMING_SECS if needs_other_workers(graph) else _STOP_GRACE_SECS
    with graph_messages.serialize_once(graph):
        return tf.compat.v1.train.MonitoredSession(creator, hooks, stop_grace_period_secs=grace)


def _calls_functions(graph: tf.Graph) -> bool:
    """Returns whether a step of the graph calls a tf.function."""
    calls = ("PartitionedCall", "StatefulPartitionedCall")
    return any(operation.type in calls for operation in graph.get_operations())


def _has_large_constants(graph: tf.Graph) -> bool:
    """Returns whether the values of a graph's constants take much memory."""
    constants = (op.outputs[0] for op in graph.get_operations() if op.type == "Const")
    return sum(map(count_bytes, constants)) >= _LARGE_CONSTANTS_BYTES


class _LatestCheckpointSessionCreator(tf.compat.v1.train.SessionCreator):
    """Creates sessions from the latest intact checkpoint, or from initial values without one.

    TensorFlow's ChiefSessionCreator initializes the variables again if it cannot read the file
    `checkpoint` at that moment, and with that begins a training at step 0.

    Args:
      scaffold: The model's Scaffold.
      settings: Configuration of the session.
      context: The estimator that is trained.
      on_restored: Called with the latest checkpoint, or None, and with whether a session restored
        an interim copy in its place.
    """

    def __init__(
        self,
        scaffold: tf.compat.v1.train.Scaffold,
        settings: tf.compat.v1.ConfigProto,
        context: EstimatorContext,
        on_restored: Callable[[str | None, bool], None],
    ) -> None:
        self._scaffold, self._settings, self._on_restored = scaffold, settings, on_restored
        self._config, self._model_dir = context.config, context.model_dir
        self._restores_by_name = not scaffold.saver  # Later it has the one of the session.

    def create_session(self) -> tf.compat.v1.Session:
        """Returns a session whose variables have their values.

        Raises:
          StorageFaultError: The storage failed while the checkpoint was read or restored.
        """
        delays = storage.retry_delays()
        may_use_copy = True
        while True:
            path = latest_checkpoint(self._model_dir, to_restore=True)
            copy = interim = None
            if path and may_use_copy:
                files = fingerprint_checkpoint(path)
                interim = find_interim_copy(path, files)
                copy = interim or find_copy(path, files)
            creator = tf.compat.v1.train.ChiefSessionCreator(
                self._scaffold if path else self._prepare_initialization(),
                self._config.master,
                self._settings,
                checkpoint_filename_with_path=copy or path,
            )
            prepared = prepare_restore(path, self._restores_by_name) if path else nullcontext()
            try:
                with process_clock.spend(RESTORE), prepared:
                    session = creator.create_session()
            except tf.errors.OpError as error:
                if interim and self._config.num_worker_replicas > 1:
                    raise  # The others may have restored it; the launcher restarts all without it.
                if copy:  # The files themselves are read next.
                    may_use_copy = False
                    continue
                if is_damaged(path, error):
                    if self._config.is_chief:
                        repair_checkpoint_list(self._model_dir)
                    continue
                if not storage.is_restore_fault(error) or self._has_lost_server(error):
                    raise
                storage.wait_after_fault(f"restore {path}", error, delays)
                continue
            named = read_checkpoint_list(self._model_dir) if path else None
            if named:  # The Saver removes the oldest of them when it has written more.
                self._scaffold.saver.recover_last_checkpoints(list(named.paths))
            self._on_restored(path, interim is not None)
            return session

    def _prepare_initialization(self) -> tf.compat.v1.train.Scaffold:
        """Returns the Scaffold of a session that initializes the variables."""
        if not _has_large_constants(tf.compat.v1.get_default_graph()):
            return self._scaffold  # The session finalizes it, and logs that once.
        self._scaffold.finalize()
        return fill_variables(self._scaffold)

    def _has_lost_server(self, error: tf.errors.OpError) -> bool:
        """Returns whether an error may be that of a lost server, which its callers handle."""
        lost = (tf.errors.AbortedError, tf.errors.UnavailableError)
        return bool(self._config.master) and isinstance(error, lost)
