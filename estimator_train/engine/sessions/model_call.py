"""The session of one call of `evaluate` or `predict`: of an open model, or one for this call."""

import abc
import contextlib
import functools
import os
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Generic

import tensorflow as tf

from estimator_train.engine.checkpoints.reading import (
    log_untrained,
    retry_on_deleted_checkpoint,
    warn_of_reordered_crosses,
)
from estimator_train.engine.inputs.input_fn import call_input_fn
from estimator_train.engine.inputs.start import start_hooks
from estimator_train.engine.job import Job, ModelCache
from estimator_train.engine.sessions.open_model import (
    BuiltModel,
    Fetches,
    ModelRequest,
    OpenModel,
    PlainSession,
    close_with,
    ends_input,
)
from estimator_train.engine.sessions.restore import prepare_restore
from estimator_train.engine.sessions.session import ChiefSessionCreator, make_session_config
from estimator_train.engine.tf_internals import sessions
from estimator_train.engine.tf_internals.tf_hooks import make_timers_steady
from estimator_train.engine.types import Hook
from estimator_train.estimator_spec import ModeKeys

_LOG = tf.get_logger()
_ErrorType = type[BaseException] | None


class ModelCall(abc.ABC, Generic[Fetches]):
    """A model with a session for one call: a context manager that the end of the input ends.

    Attributes:
      model: The model.
      session: The session; it holds the variables of the checkpoint, and the input is at its start.
      raw_session: The raw session if no hook sees its calls, so that one call may run several
        batches; None if hooks do.
      checkpoint_path: The checkpoint; None if the variables were initialized.
      results: The final values of the model by name, once the context has ended.
    """

    model: BuiltModel[Fetches]
    session: PlainSession | tf.compat.v1.train.MonitoredSession
    raw_session: tf.compat.v1.Session | None = None
    checkpoint_path: str | None
    results: dict[str, Any]

    def __enter__(self) -> "ModelCall[Fetches]":
        return self

    @abc.abstractmethod
    def __exit__(
        self, kind: _ErrorType, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        """Ends the session; returns whether the error was the end of the input."""


def open_call(
    request: ModelRequest[Fetches], checkpoint_path: str | bytes | os.PathLike[str] | None
) -> ModelCall[Fetches]:
    """Opens the session of a call, with the variables of a checkpoint.

    Args:
      request: The call.
      checkpoint_path: The checkpoint; by default the latest in model_dir. If a training deletes
        that before it is restored, the next latest.
    """
    if checkpoint_path:
        return _open_at(request, os.fsdecode(checkpoint_path))
    return retry_on_deleted_checkpoint(request.job.model_dir, functools.partial(_open_at, request))


def _open_at(request: ModelRequest[Fetches], checkpoint_path: str | None) -> ModelCall[Fetches]:
    """Opens the session at a checkpoint; without one, initializes the variables.

    A model stays open for later calls if a session needs nothing but the model's operations: no
    hooks, no queues, no other machine, a dataset as input, and a checkpoint.
    """
    log_untrained(request.job.model_dir, checkpoint_path, request.purpose)
    if checkpoint_path is None or request.hooks or request.master or request.strategy is not None:
        return _SingleCall(request, _build(request, checkpoint_path), checkpoint_path)
    model = _take_open_model(request, checkpoint_path)
    if model is None:
        built = _build(request, checkpoint_path)
        if not _can_stay_open(built):
            return _SingleCall(request, built, checkpoint_path)
        settings = make_session_config(request.job)
        reused = request.reused_input
        model = OpenModel(request.mode, built, settings, checkpoint_path, request.job, reused)
    return _OpenModelCall(request.job.open_models, model, checkpoint_path)


def _build(request: ModelRequest[Fetches], checkpoint_path: str | None) -> BuiltModel[Fetches]:
    model = request.build(checkpoint_path)
    warn_of_reordered_crosses(model.graph, checkpoint_path, f"call of {request.purpose}")
    _log_start(request)
    return model


def _log_start(request: ModelRequest[Any]) -> None:
    if request.start_message is not None:
        _LOG.info(request.start_message, time.strftime("%Y-%m-%dT%H:%M:%S"))


class _OpenModelCall(ModelCall[Fetches]):
    """Call on an open model, which the cache gets back after it."""

    def __init__(
        self, cache: ModelCache[OpenModel], model: OpenModel, checkpoint_path: str
    ) -> None:
        self._cache, self._open_model = cache, model
        self.model, self.session = model.built, model.calls
        self.raw_session = model.session
        self.checkpoint_path = checkpoint_path

    def __exit__(
        self, kind: _ErrorType, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        """Reads the results and gives the model back; closes it after an error."""
        if not self._open_model.is_open:  # Python has collected the model, or exits.
            return False
        has_ended = kind is None or ends_input(kind)
        try:
            if has_ended:
                final = tf.compat.v1.train.FinalOpsHook(self.model.final)
                final.end(self.session)  # Explains an error of values that read the input.
                self.results = final.final_ops_values
        except BaseException:
            self._open_model.close()
            raise
        if has_ended or kind is GeneratorExit:
            self._open_model.release_input()
            self._cache.give_back(self._open_model)
        else:
            self._open_model.close()
        return has_ended


class _SingleCall(ModelCall[Fetches]):
    """Call with a session that runs hooks and queues, for this call only."""

    def __init__(
        self,
        request: ModelRequest[Fetches],
        model: BuiltModel[Fetches],
        checkpoint_path: str | None,
    ) -> None:
        self.model, self.checkpoint_path = model, checkpoint_path
        self._final = tf.compat.v1.train.FinalOpsHook(model.final)
        hooks = [*start_hooks(model.inputs), *request.hooks, *model.hooks, self._final]
        make_timers_steady(hooks)
        self._monitored = _open_session(request, model, checkpoint_path, hooks)
        self._close = close_with(self, sessions.find_current_session(self._monitored))
        self.session = self._monitored
        # Hooks find the graph as the default one; between predictions the caller has another.
        self._graph_scope = contextlib.ExitStack()
        self._keeps_default_graph = request.mode == ModeKeys.EVAL

    def __enter__(self) -> "_SingleCall[Fetches]":
        if self._keeps_default_graph:
            self._graph_scope.enter_context(self.model.graph.as_default())
        return self

    def __exit__(
        self, kind: _ErrorType, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        """Closes the session while its graph is the default one: hooks add to it at the end."""
        if not self._close.alive:  # Python has collected this call, or exits.
            return False
        with self._graph_scope, self.model.graph.as_default():
            has_ended = bool(self._monitored.__exit__(kind, error, traceback)) or kind is None
        self.results = self._final.final_ops_values
        return has_ended


def _open_session(
    request: ModelRequest[Fetches],
    model: BuiltModel[Fetches],
    checkpoint_path: str | None,
    hooks: Sequence[Hook],
) -> tf.compat.v1.train.MonitoredSession:
    with (
        model.graph.as_default(),
        prepare_restore(checkpoint_path, not model.scaffold.saver),
    ):
        creator = ChiefSessionCreator(
            model.scaffold,
            request.master,
            make_session_config(request.job, request.strategy),
            checkpoint_path,
            may_skip_checks=request.strategy is None,
        )
        return tf.compat.v1.train.MonitoredSession(creator, hooks=hooks)


def _take_open_model(request: ModelRequest[Fetches], checkpoint_path: str) -> OpenModel | None:
    """Returns the open model of this mode, started on the call's input, or None."""
    model: OpenModel | None = request.job.open_models.take(request.mode)
    if model is None:
        return None
    try:
        if request.job.builds_same_model(model.job) and model.take_input(
            lambda: call_input_fn(request.job, request.input_fn, request.mode),
            lambda: _prepare_graph(request.job),
            request.reused_input,
        ):
            _log_start(request)
            model.load(checkpoint_path)
            return model
    except BaseException:
        model.close()
        raise
    model.close()
    return None


def _prepare_graph(job: Job) -> None:
    """Adds the operations that precede an input in every model's graph: its seeds count them."""
    if job.config.tf_random_seed is not None:
        tf.compat.v1.set_random_seed(job.config.tf_random_seed)
        job.create_global_step(tf.compat.v1.get_default_graph())


def _can_stay_open(built: BuiltModel[Fetches]) -> bool:
    queue_runners = built.graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS)
    return built.inputs.iterator is not None and not built.hooks and not queue_runners
