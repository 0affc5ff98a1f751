"""Job: one call of train, evaluate, predict or export; its calls of users' functions; open models.

On replicas, users' functions are converted by AutoGraph, so that `if tensor:` works in them, as in
tf.estimator. Functions that no replica calls are not converted.
"""

from __future__ import annotations

import contextlib
import contextvars
import copy
import dataclasses
import functools
import inspect
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, Protocol, TypeVar

import tensorflow as tf

from estimator_train import bootstrap
from estimator_train.engine.checkpoints.warm_start import WarmStartSettings
from estimator_train.engine.comparison import have_equal_values, read_visible_values
from estimator_train.engine.tf_internals import modes
from estimator_train.engine.together.alone import Alone
from estimator_train.engine.together.asynchronous import Asynchronous
from estimator_train.engine.together.strategies import is_multi_worker
from estimator_train.engine.together.synchronous import Synchronous
from estimator_train.engine.types import InputFn, Params, Strategy, TensorStructure
from estimator_train.run_config import RunConfig

bootstrap.prepare_tensorflow()
_LOG = tf.get_logger()
_MAX_MODELS = 2
_MODELS_OF_PARENT: list[Any] = []  # Open in the process that forked this one.
# The job whose user function runs in this thread: the members of Estimator that call the function
# have fixed signatures, by which programs override them, without the params.
_calling: contextvars.ContextVar[Job | None] = contextvars.ContextVar("calling", default=None)
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_on_replica = contextvars.ContextVar("on_replica", default=False)
# These strategies call a function directly; the others convert it first.
_WITHOUT_REPLICAS = (tf.distribute.OneDeviceStrategy, tf.compat.v1.distribute.OneDeviceStrategy)
_LABELS_NOT_TAKEN = "model_fn does not take labels, but input_fn returns labels."
_MODEL_FN_ARGUMENTS = frozenset({"features", "labels", "mode", "params", "self", "config"})


def make_together(config: RunConfig) -> Alone:
    """Returns how a process trains, from a RunConfig whose cluster is resolved."""
    if config.master and is_multi_worker(config.train_distribute):
        return Synchronous(config)
    # TF_CONFIG may name a session_master without a cluster.
    if config.master and config.cluster_spec.jobs and not config.train_distribute:
        return Asynchronous(config)
    return Alone(config)


@dataclasses.dataclass(frozen=True)
class Job:
    """One call of train, evaluate, predict or export; it calls the user's functions.

    Attributes:
      estimator: The Estimator, as the owner of the params; the engine does not use it.
      model_fn: The user's model_fn.
      model_fn_member: The Estimator's `_call_model_fn`, for (features, labels, mode, config).
      input_fn_member: Its `_call_input_fn`, for (input_fn, mode) and optionally input_context.
      create_global_step: Its `_create_and_assert_global_step`, for a graph.
      params: Hyper-parameters passed to model_fn and input_fns; an empty dict by default.
      config: The RunConfig, with its `model_dir` and `session_config` filled in.
      session_config: The configuration of sessions that run in this process.
      warm_start: The source of the variables' first values, or None.
      open_models: The models that stay open between calls.
      failed_loops: The modes whose loops TensorFlow's runtime could not run: train or evaluate.
      examples_per_step: Number of examples in a step, for the summary `examples/sec`; None: there
        is no such summary.
      visible: What model_fn can read outside of its arguments, at the beginning of the call.
      written: The places in `visible` that the user's functions have changed themselves.
    """

    estimator: object
    model_fn: Callable[..., Any]
    model_fn_member: Callable[[Any, Any, str, RunConfig], Any]
    input_fn_member: Callable[..., Any]
    create_global_step: Callable[[tf.Graph], tf.Variable]
    params: Params
    config: RunConfig
    session_config: tf.compat.v1.ConfigProto
    warm_start: WarmStartSettings | None
    open_models: ModelCache[Any]
    failed_loops: set[str]
    examples_per_step: int | None = None
    visible: Mapping[str, str] = dataclasses.field(init=False)
    written: set[str] = dataclasses.field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        """Reads what model_fn can read; the class is frozen."""
        object.__setattr__(self, "visible", read_visible_values(self.model_fn))

    @property
    def model_dir(self) -> str:
        """The directory of checkpoints and event files."""
        return str(self.config.model_dir)

    @functools.cached_property
    def together(self) -> Alone:
        """How this process trains: alone, or with others."""
        return make_together(self.config)

    def call_model_fn(self, features: TensorStructure, labels: TensorStructure, mode: str) -> Any:
        """Calls the member of Estimator that calls model_fn, with the params of this job."""
        with self._lend_params():
            spec = self.model_fn_member(features, labels, mode, self.config)
        now = read_visible_values(self.model_fn)
        self.written.update(name for name, _ in self.visible.items() ^ now.items())
        return spec

    def call_input_fn(self, input_fn: InputFn, mode: str, **shard: Any) -> Any:
        """Calls the member of Estimator that calls an input_fn, with the params of this job."""
        with self._lend_params():
            return self.input_fn_member(input_fn, mode, **shard)

    @contextlib.contextmanager
    def _lend_params(self) -> Iterator[None]:
        token = _calling.set(self)
        try:
            yield
        finally:
            _calling.reset(token)

    def builds_same_model(self, other: Job) -> bool:
        """Returns whether a model that was built for `other` can answer a call of this one."""
        changed = {name for name, _ in self.visible.items() ^ other.visible.items()}
        return (
            changed <= other.written
            and self._functions == other._functions
            and self.session_config == other.session_config
            and self.warm_start == other.warm_start
            and have_equal_values(self.params, other.params)
            and have_equal_values(vars(self.config), vars(other.config))
        )

    @property
    def _functions(self) -> tuple[Callable[..., Any], ...]:
        """The functions that decide how the model is built."""
        return self.model_fn, self.model_fn_member, self.input_fn_member, self.create_global_step


def copy_params_of_call(estimator: object) -> Params | None:
    """Returns a copy of the params that a user's function gets in the current call of a job.

    Args:
      estimator: The Estimator whose member calls the function; None if no job of it has called.
    """
    job = _calling.get()
    return copy.deepcopy(job.params) if job is not None and job.estimator is estimator else None


@dataclasses.dataclass(frozen=True, eq=False)
class ReusedInput:
    """An input that open models read again and again, without calling its input_fn again.

    Attributes:
      input_fn: The user's input_fn.
    """

    input_fn: Callable[..., Any]

    @contextlib.contextmanager
    def activate(self) -> Iterator[None]:
        """Makes `find_reused_input` return this one for its input_fn, in this thread."""
        token = _active.set(self)
        try:
            yield
        finally:
            _active.reset(token)


# The public `evaluate`, which programs override, has no argument for it.
_active: contextvars.ContextVar[ReusedInput | None] = contextvars.ContextVar(
    "reused_input", default=None
)


def find_reused_input(input_fn: Callable[..., Any]) -> ReusedInput | None:
    """Returns the active ReusedInput if it is that of `input_fn`, otherwise None."""
    active = _active.get()
    return active if active is not None and active.input_fn is input_fn else None


class CachedModel(Protocol):
    """An open model, as the cache uses it."""

    @property
    def mode(self) -> str:
        """The ModeKeys value that it was built for."""

    @property
    def needs_rebuild(self) -> bool:
        """Whether its graph has grown too large to use again."""

    def close(self) -> None:
        """Releases its session and graph."""


_Model = TypeVar("_Model", bound=CachedModel)


class ModelCache(Generic[_Model]):
    """The last few open models of one Estimator."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._models: list[_Model] = []
        self._process = os.getpid()

    def __reduce__(self) -> tuple[Any, ...]:
        """Makes copies and pickles of an Estimator begin without open models."""
        return ModelCache, ()

    def take(self, mode: str) -> _Model | None:
        """Removes and returns a model of this mode, or returns None."""
        with self._lock:
            self._leave_to_parent()
            for model in self._models:
                if model.mode == mode:
                    self._models.remove(model)
                    return model
        return None

    def give_back(self, model: _Model) -> None:
        """Keeps a model for the next call, and closes the oldest if there are too many."""
        with self._lock:
            if not model.needs_rebuild:
                self._models.append(model)
            surplus = self._models[:-_MAX_MODELS]
            self._models = self._models[-_MAX_MODELS:]
        for old in [*surplus, *([model] if model.needs_rebuild else [])]:
            old.close()

    def close(self) -> None:
        """Closes all models that no call uses."""
        with self._lock:
            self._leave_to_parent()
            models, self._models = self._models, []
        for model in models:
            model.close()

    def _leave_to_parent(self) -> None:
        """Forgets the models of the process that forked this one.

        Their sessions have no threads here, so that they could neither run nor end.
        """
        if self._process != os.getpid():
            _MODELS_OF_PARENT.append(self._models)
            self._models, self._process = [], os.getpid()


def list_argument_names(fn: Callable[..., Any]) -> tuple[str, ...]:
    """Returns the names of the arguments that a caller can still give to `fn`.

    Args:
      fn: A function, lambda, bound method, callable object or `functools.partial` of these. The
        arguments that a partial holds are left out.

    Raises:
      TypeError: `fn` cannot be called.
    """
    if not callable(fn):
        raise TypeError(
            f"unsupported callable: expected a function or a callable object, got {fn!r} of type "
            f"{type(fn).__name__}."
        )
    held: set[str] = set()
    while isinstance(fn, functools.partial):
        # A partial keeps its keywords in the signature, with new defaults.
        held.update(fn.keywords, list_argument_names(fn.func)[: len(fn.args)])
        fn = fn.func
    parameters = _find_signature(fn).parameters.values()
    return tuple(p.name for p in parameters if p.kind in _NAMED and p.name not in held)


def call_with_known(
    fn: Callable[..., Any],
    available: Mapping[str, Any],
    fallbacks: Mapping[str, Any] | None = None,
    required_arguments: Mapping[str, str] | None = None,
) -> Any:
    """Calls a function with the arguments that it names.

    Args:
      fn: The function.
      available: Values of arguments by their names.
      fallbacks: Values of arguments that have no default in the function, by their names.
      required_arguments: Maps each required argument to the error raised when it is missing.

    Raises:
      ValueError: The function does not take one of `required_arguments`.
    """
    needed = {name: value for name, value in (fallbacks or {}).items() if requires(fn, name)}
    names = list_argument_names(fn)
    for name, message in (required_arguments or {}).items():
        if name not in names:
            raise ValueError(message)
    known = {name: value for name, value in {**needed, **available}.items() if name in names}
    return convert_on_replica(fn)(**known)


def call_model_fn(model_fn: Callable[..., Any], available: Mapping[str, Any]) -> Any:
    """Calls a model_fn with the arguments that it takes.

    Args:
      model_fn: The user's model_fn.
      available: Features, labels, mode, params and config by their names.

    Raises:
      ValueError: There are labels, and model_fn does not take them.
    """
    has_labels = available["labels"] is not None
    required = {"labels": _LABELS_NOT_TAKEN} if has_labels else None
    return call_with_known(model_fn, available, required_arguments=required)


def requires(fn: Callable[..., Any], name: str) -> bool:
    """Returns whether `fn` has an argument `name` without a default."""
    parameter = _find_signature(fn).parameters.get(name)
    return parameter is not None and parameter.default is inspect.Parameter.empty


def _find_signature(fn: Callable[..., Any]) -> inspect.Signature:
    """Returns the signature of `fn`, or of the wrapped function if `fn` passes on any keyword."""
    own = inspect.signature(fn, follow_wrapped=False)
    passes_on = any(p.kind == inspect.Parameter.VAR_KEYWORD for p in own.parameters.values())
    return inspect.signature(fn) if passes_on else own


def validate_model_fn(model_fn: Callable[..., Any] | None, params: Params) -> None:
    """Checks that a model_fn has legal arguments.

    Args:
      model_fn: The user's model_fn.
      params: The params given to the estimator, or None.

    Raises:
      ValueError: model_fn is missing; it does not take `features`; it takes an unknown argument; or
        params are given and it does not take `params`.
      TypeError: model_fn cannot be called.
    """
    if model_fn is None:
        raise ValueError("model_fn must be provided to Estimator.")
    names = list_argument_names(model_fn)
    if "features" not in names:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in names:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is "
            "passed to Estimator."
        )
    warn_of_missing_params(model_fn, params)
    unknown = sorted(set(names) - _MODEL_FN_ARGUMENTS)
    if unknown:
        raise ValueError(
            f"model_fn ({model_fn}) has following not expected args: {unknown}. Bind them with "
            "functools.partial, or pass them through params."
        )


def warn_of_missing_params(model_fn: Callable[..., Any], params: Params) -> None:
    """Logs a warning if a model_fn requires `params`, but the estimator has none."""
    if params is None and requires(model_fn, "params"):
        _LOG.warning(
            "Estimator's model_fn (%s) includes params argument, but params are not passed to "
            "Estimator.",
            model_fn,
        )


def as_replica(fn: Callable[..., Any], strategy: Strategy) -> Callable[..., Any]:
    """Returns `fn` for the replicas of a strategy, in which `convert_on_replica` converts."""
    if isinstance(strategy, _WITHOUT_REPLICAS):
        return fn

    def replica(*args: Any, **kwargs: Any) -> Any:
        token = _on_replica.set(True)
        try:
            return fn(*args, **kwargs)
        finally:
            _on_replica.reset(token)

    return replica


def convert_on_replica(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a user's function, converted by AutoGraph if a replica calls it.

    Args:
      fn: Any callable. Functions of `tf.autograph.experimental.do_not_convert` are not converted.
    """
    if not _on_replica.get():
        return fn
    return modes.convert(fn)
