"""Sessions of the engine: their configuration and their creation."""

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext

import tensorflow as tf

from estimator_train.engine import storage
from estimator_train.engine.checkpoints.integrity import (
    fingerprint_checkpoint,
    latest_checkpoint,
    read_checkpoint_list,
)
from estimator_train.engine.checkpoints.memory_copy import find_copy, find_interim_copy
from estimator_train.engine.checkpoints.model_dir import remove_surplus, repair_checkpoint_list
from estimator_train.engine.checkpoints.reading import is_damaged, warn_of_reordered_crosses
from estimator_train.engine.graph.mixed_precision import enable_casts
from estimator_train.engine.job import Job
from estimator_train.engine.sessions.restore import fill_variables, prepare_restore
from estimator_train.engine.tf_internals import graphs, saver_entries, sessions
from estimator_train.engine.tf_internals.constants import count_constant_bytes
from estimator_train.engine.together.alone import needs_other_workers
from estimator_train.engine.together.strategies import is_multi_worker
from estimator_train.engine.types import Hook, Strategy
from estimator_train.goodput import RESTORE, WAITING, process_clock

_LOG = tf.get_logger()
# TensorFlow's creator checks every 30 seconds: a worker would be idle for that time.
_POLL_SECS = 1
_NOT_READY = "Waiting for model to be ready."
# Time that a session waits for its threads when it closes. The thread of a chief that sums the
# gradients of workers ends only with the session.
_STOP_GRACE_SECS = 120
_STOP_GRACE_OF_SUMMING_SECS = 2
_LARGE_CONSTANTS_BYTES = 64 * 2**20
# Operations that assign a variable, their first input.
_ASSIGNMENTS = ("AssignVariableOp", "Assign")


class PromptSessionCreator(tf.compat.v1.train.SessionCreator):
    """Session creator of a worker, which notices within a second that the model is ready.

    Args:
      scaffold: The model's Scaffold.
      master: The target of this task's server.
      config: Configuration of the session.
      max_wait_secs: Maximum time to wait for the chief; None for no limit.
    """

    def __init__(
        self,
        scaffold: tf.compat.v1.train.Scaffold,
        master: str,
        config: tf.compat.v1.ConfigProto,
        max_wait_secs: float | None,
    ) -> None:
        self._scaffold, self._master, self._config = scaffold, master, config
        self._max_wait_secs = max_wait_secs
        self._manager: tf.compat.v1.train.SessionManager | None = None

    def create_session(self) -> tf.compat.v1.Session:
        """Waits for the chief, and creates a session.

        Raises:
          DeadlineExceededError: The model was not ready after `max_wait_secs`.
        """
        self._scaffold.finalize()
        if self._manager is None:
            self._manager = tf.compat.v1.train.SessionManager(
                local_init_op=self._scaffold.local_init_op,
                local_init_feed_dict=self._scaffold.local_init_feed_dict,
                ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op,
                graph=tf.compat.v1.get_default_graph(),
                recovery_wait_secs=_POLL_SECS,
            )
        with process_clock.spend(WAITING), _log_first_wait():
            return self._manager.wait_for_session(
                self._master, config=self._config, max_wait_secs=self._max_wait_secs
            )


@contextlib.contextmanager
def _log_first_wait() -> Iterator[None]:
    """Lets TensorFlow log only the first check that finds the model not ready."""
    has_logged = False

    def is_new(record: logging.LogRecord) -> bool:
        nonlocal has_logged
        is_wait = str(record.msg).startswith(_NOT_READY)
        is_repeated = is_wait and has_logged
        has_logged |= is_wait
        return not is_repeated

    _LOG.addFilter(is_new)
    try:
        yield
    finally:
        _LOG.removeFilter(is_new)


def make_session_config(job: Job, strategy: Strategy | None = None) -> tf.compat.v1.ConfigProto:
    """Returns the configuration of sessions, with a CPU device for each replica of the strategy.

    A session creates its devices itself, as many as `device_count`. The logical CPU devices of
    eager code do not count.
    """
    config = tf.compat.v1.ConfigProto()
    config.CopyFrom(job.session_config)
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
    job: Job,
    scaffold: tf.compat.v1.train.Scaffold,
    strategy: Strategy | None,
    hooks: Sequence[Hook],
    on_restored: Callable[[str | None, bool], None],
) -> tf.compat.v1.train.MonitoredSession:
    """Opens a session that trains the default graph from the latest checkpoint.

    Args:
      job: The call of `train`.
      scaffold: The model's Scaffold.
      strategy: The strategy that the model was built under, or None.
      hooks: All hooks of the session.
      on_restored: Called before the hooks with the latest checkpoint, or None, and with whether the
        session restored an interim copy, of a later step, in its place.
    """
    config, together = job.config, job.together
    graph = tf.compat.v1.get_default_graph()
    settings = make_session_config(job, strategy)
    together.configure_session(settings, graph)
    rewrites = settings.graph_options.rewrite_options
    if not rewrites.common_subgraph_elimination and _has_large_constants(graph):
        # It would expand the constants to compare them, such as the initial values of the slots of
        # embeddings: a second for 500 MB.
        rewrites.common_subgraph_elimination = rewrites.OFF
    if config.mixed_precision:
        enable_casts(settings, config.mixed_precision)
    creator: tf.compat.v1.train.SessionCreator
    if together.initializes_variables:
        creator = _LatestCheckpointSessionCreator(scaffold, settings, job, on_restored)
    else:
        creator = PromptSessionCreator(
            scaffold, config.master, settings, config.session_creation_timeout_secs
        )
    grace = _STOP_GRACE_OF_SUMMING_SECS if needs_other_workers(graph) else _STOP_GRACE_SECS
    with graphs.serialize_once(graph):
        return tf.compat.v1.train.MonitoredSession(
            together.wrap_creator(creator), hooks, stop_grace_period_secs=grace
        )


def _has_large_constants(graph: tf.Graph) -> bool:
    """Returns whether the values of a graph's constants take much memory."""
    return count_constant_bytes(graph) >= _LARGE_CONSTANTS_BYTES


def _has_one_device(config: tf.compat.v1.ConfigProto) -> bool:
    """Returns whether a session of this process has the CPU as its only device."""
    kinds = {device.device_type for device in tf.config.list_physical_devices()}
    return kinds == {"CPU"} and config.device_count.get("CPU", 1) <= 1


def _omit_needless_passes(config: tf.compat.v1.ConfigProto) -> tf.compat.v1.ConfigProto:
    """Returns a configuration without passes of the graph optimizer that find nothing on one CPU.

    They take a tenth of the time to prepare a call. The pass for layouts changes operations on GPUs
    alone. The pass for memory spares a copy of the value in the assignment of a reference variable.
    """
    omitted = tf.compat.v1.ConfigProto()
    omitted.CopyFrom(config)
    rewrites = omitted.graph_options.rewrite_options
    if not rewrites.layout_optimizer and not rewrites.cpu_layout_conversion:
        rewrites.layout_optimizer = rewrites.OFF
    variables = [*tf.compat.v1.global_variables(), *tf.compat.v1.local_variables()]
    has_references = not all(hasattr(variable, "handle") for variable in variables)
    if not rewrites.memory_optimization and not has_references:
        rewrites.memory_optimization = rewrites.NO_MEM_OPT
    return omitted


def _is_large_without_arrays(graph: tf.Graph) -> bool:
    """Returns whether a session prepares calls sooner if it places only what each of them runs.

    TensorFlow then copies the graph for each call, with its constants.
    """
    return graphs.is_large(graph) and not _has_large_constants(graph)


class ChiefSessionCreator(tf.compat.v1.train.SessionCreator):
    """Creates sessions as TensorFlow's class does, without checks whose result is known.

    TensorFlow's class asks in two session calls whether all variables have values. In a large graph
    each takes as long as many steps. The calls are left out if the graph shows that the operations
    that ran have assigned each variable. Then a `local_init_op` without operations is not run
    either.

    The session of a large graph places and optimizes only the operations that a call runs, not the
    complete graph for each call. With one device, this places each operation on the same device.

    Args:
      scaffold: The model's Scaffold.
      master: The address that the session connects to; empty for a session in this process.
      config: Configuration of the session.
      checkpoint_path: The checkpoint to restore, or None to initialize the variables.
      may_skip_checks: Whether checks may be left out; not under a strategy, where a variable may be
        several.
    """

    def __init__(
        self,
        scaffold: tf.compat.v1.train.Scaffold,
        master: str,
        config: tf.compat.v1.ConfigProto,
        checkpoint_path: str | None,
        may_skip_checks: bool,
    ) -> None:
        self._scaffold, self._master, self._config = scaffold, master, config
        self._path = checkpoint_path
        self._may_skip_checks = may_skip_checks and not master

    def create_session(self) -> tf.compat.v1.Session:
        """Returns a session whose variables have their values."""
        scaffold, graph = self._scaffold, tf.compat.v1.get_default_graph()
        may_skip = self._may_skip_checks and not _has_own_checks(scaffold, graph)
        scaffold.finalize()
        skips = may_skip and self._assigns_all_variables()
        config = self._config
        if not self._master:
            sessions.check_threads(config)
        if not self._master and _has_one_device(config):
            config = _omit_needless_passes(config)
            if self._may_skip_checks and _is_large_without_arrays(graph):
                config.graph_options.place_pruned_graph = True
        starts_locals = not skips or bool(graphs.list_grouped(scaffold.local_init_op))
        manager = tf.compat.v1.train.SessionManager(
            local_init_op=scaffold.local_init_op if starts_locals else None,
            ready_op=None if skips else scaffold.ready_op,
            ready_for_local_init_op=None if skips else scaffold.ready_for_local_init_op,
            graph=graph,
            local_init_feed_dict=scaffold.local_init_feed_dict,
        )
        session = manager.prepare_session(
            self._master,
            saver=scaffold.saver,
            checkpoint_filename_with_path=self._path,
            config=config,
            init_op=scaffold.init_op,
            init_feed_dict=scaffold.init_feed_dict,
            init_fn=scaffold.init_fn,
        )
        if not starts_locals:
            # Nothing ran, but programs read these lines to see that a training starts.
            _LOG.info("Running local_init_op.")
            _LOG.info("Done running local_init_op.")
        return session

    def _assigns_all_variables(self) -> bool:
        """Returns whether the operations before the first step assign each variable."""
        scaffold = self._scaffold
        first = saver_entries.find_restore_op(scaffold.saver) if self._path else scaffold.init_op
        groups = [first, scaffold.local_init_op]
        if not all(isinstance(group, tf.Operation) for group in groups):
            return False
        found = [operation for group in groups for operation in graphs.list_grouped(group)]
        assigned = {one.inputs[0].op.name for one in found if one.type in _ASSIGNMENTS}
        variables = [*tf.compat.v1.global_variables(), *tf.compat.v1.local_variables()]
        return all(variable.name.rpartition(":")[0] in assigned for variable in variables)


def _has_own_checks(scaffold: tf.compat.v1.train.Scaffold, graph: tf.Graph) -> bool:
    """Returns whether a model has checks of its own, or resources, which checks look for too."""
    keys = tf.compat.v1.GraphKeys
    names = (keys.READY_OP, keys.READY_FOR_LOCAL_INIT_OP, keys.RESOURCES, keys.LOCAL_RESOURCES)
    if any(graph.get_collection_ref(name) for name in names):
        return True
    return scaffold.ready_op is not None or scaffold.ready_for_local_init_op is not None


class _LatestCheckpointSessionCreator(tf.compat.v1.train.SessionCreator):
    """Creates sessions from the latest intact checkpoint, or from initial values without one.

    TensorFlow's own creator initializes the variables again if it cannot read the file
    `checkpoint` at that moment, and with that begins a training at step 0.

    Args:
      scaffold: The model's Scaffold.
      settings: Configuration of the session.
      job: The call of `train`.
      on_restored: Called with the latest checkpoint, or None, and with whether a session restored
        an interim copy in its place.
    """

    def __init__(
        self,
        scaffold: tf.compat.v1.train.Scaffold,
        settings: tf.compat.v1.ConfigProto,
        job: Job,
        on_restored: Callable[[str | None, bool], None],
    ) -> None:
        self._scaffold, self._settings, self._on_restored = scaffold, settings, on_restored
        self._config, self._model_dir = job.config, job.model_dir
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
            creator = ChiefSessionCreator(
                self._scaffold if path else self._prepare_initialization(),
                self._config.master,
                self._settings,
                copy or path,
                may_skip_checks=self._config.train_distribute is None,
            )
            if path:
                warn_of_reordered_crosses(tf.compat.v1.get_default_graph(), path, "call of train")
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
                paths = list(named.paths)
                if self._config.is_chief:
                    paths = remove_surplus(self._scaffold.saver, paths, named.latest)
                self._scaffold.saver.recover_last_checkpoints(paths)
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
