"""Models of evaluate and predict: built for a call, and open with a session between calls."""

import abc
import contextlib
import dataclasses
import glob
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import tensorflow as tf

from estimator_train.engine.checkpoints.integrity import compute_fingerprint
from estimator_train.engine.inputs.input_fn import Inputs, release_arrays
from estimator_train.engine.inputs.reused_input import InputSlot, InputStart, calls_python
from estimator_train.engine.job import Job, ReusedInput
from estimator_train.engine.loops.prepared_calls import PreparedCalls
from estimator_train.engine.sessions.restore import prepare_restore
from estimator_train.engine.sessions.session import ChiefSessionCreator
from estimator_train.engine.tf_internals import graphs, sessions, strategies
from estimator_train.engine.types import Hook, InputFn, Strategy

Fetches = TypeVar("Fetches")
# Each imported input leaves its operations in the graph; past these limits a model is rebuilt.
_MAX_IMPORTED = 100
_MAX_IMPORTED_BYTES = 64 * 2**20
# An input that runs Python ends within this time, unless it waits for rows.
_MAX_EXIT_SECS = 3.0
_MAX_BUSY_EXIT_SECS = 60.0


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
class ModelRequest(abc.ABC, Generic[Fetches]):
    """One call of `evaluate` or `predict`.

    Attributes:
      mode: ModeKeys.EVAL or ModeKeys.PREDICT.
      purpose: The verb, for the log.
      start_message: Log line with a place for the time when the model is ready to be restored; None
        for no line.
      job: The call of the Estimator.
      input_fn: The user's input_fn.
      hooks: Hooks of the caller.
      master: The address that the session connects to; empty for a session in this process.
      strategy: The strategy that the model is built under, or None.
      reused_input: The input, if later calls read it again; otherwise None.
    """

    mode: ClassVar[str]
    purpose: ClassVar[str]
    start_message: ClassVar[str | None] = None
    job: Job
    input_fn: InputFn
    hooks: Sequence[Hook]
    master: str
    strategy: Strategy | None
    reused_input: ReusedInput | None = dataclasses.field(default=None, kw_only=True)

    @abc.abstractmethod
    def build(self, checkpoint_path: str | None) -> BuiltModel[Fetches]:
        """Builds the model in a new graph.

        Args:
          checkpoint_path: The checkpoint that the session restores, or None.
        """


def open_restored_session(
    graph: tf.Graph,
    scaffold: tf.compat.v1.train.Scaffold,
    config: tf.compat.v1.ConfigProto,
    checkpoint_path: str | None,
) -> tf.compat.v1.Session:
    """Opens a raw session with a checkpoint's variables.

    Args:
      graph: The graph; this function finalizes it.
      scaffold: The model's Scaffold.
      config: Configuration of the session.
      checkpoint_path: The checkpoint, or None to initialize the variables.
    """
    with graph.as_default(), prepare_restore(checkpoint_path, not scaffold.saver):
        return ChiefSessionCreator(scaffold, "", config, checkpoint_path, True).create_session()


def close_with(owner: Any, session: tf.compat.v1.Session) -> "weakref.finalize[..., Any]":
    """Closes a session when Python collects its owner, or when Python exits.

    At exit it closes the session while threads still run: a session that Python destroys later
    waits for ever for a generator that is the input of unread predictions.

    Args:
      owner: The object that uses the session.
      session: The raw session.

    Returns:
      A function that closes the session now; its `alive` tells whether the session is open.
    """
    return weakref.finalize(owner, _close, session, os.getpid())


def _close(session: tf.compat.v1.Session, process: int) -> None:
    """Closes a session; when Python exits, waits a few seconds at most for functions of Python."""
    if process != os.getpid():  # A forked process has no threads that could end.
        return
    if threading.main_thread().is_alive():
        session.close()
        return
    # A generator that waits for a row, such as of a queue, gets none at exit. The thread that waits
    # for it keeps the session, so that Python does not destroy it.
    closing = threading.Thread(target=session.close, name="session-close", daemon=True)
    try:
        closing.start()
    except RuntimeError:  # Python 3.12.0 and 3.12.1 start no thread at exit.
        session.close()
    else:
        closing.join(_MAX_EXIT_SECS)
        # On a busy machine the end of a session may take longer. A thread that returns to Python
        # during its exit aborts the process. An input may wait for a pipe, though.
        if closing.is_alive() and not calls_python(session.graph):
            closing.join(_MAX_BUSY_EXIT_SECS)


class OpenModel:
    """Model with a session that holds a checkpoint's variables.

    Args:
      mode: The mode that the model was built in.
      built: The model.
      session_config: Configuration of its session.
      checkpoint_path: The first checkpoint.
      job: The call that the model was built for.
      key: Key of the input that the model was built on, to start it again; None for an input that
        is used once.
    """

    def __init__(
        self,
        mode: str,
        built: BuiltModel[Any],
        session_config: tf.compat.v1.ConfigProto,
        checkpoint_path: str,
        job: Job,
        key: ReusedInput | None = None,
    ) -> None:
        self.mode = mode
        self.job = job
        self.built = built
        self._slot = InputSlot(built.graph, built.inputs)
        first = self._slot.prepare_first(may_repeat=bool(key))
        self._starts = {key: first} if key and first.repeats else {}
        self._imported: list[InputStart] = []
        self._by_name = not built.scaffold.saver  # The session adds a saver later.
        self.session = open_restored_session(
            built.graph, built.scaffold, session_config, checkpoint_path
        )
        self._close = close_with(self, self.session)
        self.calls = PlainSession(self.session)
        graphs.reopen(built.graph)
        self._loaded = _find_fingerprint(checkpoint_path)
        first(self.session)
        if not first.repeats:
            release_arrays(built.graph)
        self._release_op = _build_release_op(built.graph, built.inputs.iterator)

    @property
    def needs_rebuild(self) -> bool:
        """Whether the graph has grown too large through imported inputs."""
        size = sum(start.size for start in self._imported)
        return len(self._imported) >= _MAX_IMPORTED or size > _MAX_IMPORTED_BYTES

    @property
    def is_open(self) -> bool:
        """Whether the session is open."""
        return self._close.alive

    def take_input(
        self, make: Callable[[], Any], prepare: Callable[[], Any], key: ReusedInput | None = None
    ) -> bool:
        """Builds the input of the next call and starts it.

        Args:
          make: Calls the user's input_fn.
          prepare: Called before `make` in the graph of the input.
          key: Key of the input; an input whose key is known starts again, if that gives its rows.

        Returns:
          False if the input has another structure than the one that the model was built on.
        """
        start = self._starts.get(key) if key else None
        if start is None:
            start = self._slot.take(make, prepare, may_repeat=bool(key))
            if start is None:
                return False
            if start.source is not None:
                self._imported.append(start)
            if key and start.repeats:
                self._starts[key] = start
        start(self.session)
        if start.source is not None and not start.repeats:
            release_arrays(start.source)
        return True

    def load(self, checkpoint_path: str) -> None:
        """Loads a checkpoint's variables, unless they are loaded, and resets local variables."""
        scaffold = self.built.scaffold
        if not _exists(checkpoint_path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {checkpoint_path}")
        if self._loaded != _find_fingerprint(checkpoint_path):
            with (
                self.built.graph.as_default(),
                prepare_restore(checkpoint_path, self._by_name),
            ):
                scaffold.saver.restore(self.session, checkpoint_path)
            self._loaded = _find_fingerprint(checkpoint_path)
        self.session.run(scaffold.local_init_op)

    def release_input(self) -> None:
        """Replaces the input by an empty one, which ends its threads and frees its buffers.

        It waits for the functions of the input that run now, as the end of a session does. A thread
        that did so after the call has ended would read the environment (TensorFlow asks it for
        TF_JOB_NAME), and a program that sets a variable at that moment would crash.
        """
        if self._release_op is not None:
            with contextlib.suppress(tf.errors.OpError):  # The next input replaces this one anyway.
                self.session.run(self._release_op)

    def close(self) -> None:
        """Closes the session."""
        self._close()


class PlainSession:
    """Raw session with the methods of a MonitoredSession that a call needs."""

    def __init__(self, session: tf.compat.v1.Session) -> None:
        self._raw = session
        self._prepared = PreparedCalls()
        self._short: dict[tuple[str, ...], Callable[[], list[Any]]] = {}

    def run(self, fetches: Any, feed_dict: dict[Any, Any] | None = None) -> Any:
        """Runs the fetches."""
        if feed_dict:
            return self._raw.run(fetches, feed_dict)
        return self._prepared.run(self._raw, fetches)

    def make_short_call(self, tensors: Sequence[tf.Tensor]) -> Callable[[], list[Any]]:
        """Returns a function that computes tensors in the caller's thread."""
        names = tuple(tensor.name for tensor in tensors)
        if names not in self._short:
            self._short[names] = sessions.prepare_session_call(
                self._raw, [], tensors, in_this_thread=True
            )
        return self._short[names]

    def should_stop(self) -> bool:
        """Returns False: only the end of the input stops the session."""
        return False


def _build_release_op(graph: tf.Graph, iterator: Any) -> tf.Operation | None:
    """Adds an operation that replaces an input by an empty one; None for other elements."""
    specs = tf.nest.flatten(iterator.element_spec)
    if not all(isinstance(spec, tf.TensorSpec) for spec in specs):
        return None
    with graph.as_default(), tf.name_scope("no_input"), tf.device("/cpu:0"):
        empty = tuple(tf.zeros([0, *_choose_shape(spec)], spec.dtype) for spec in specs)
        options = tf.data.Options()
        options.experimental_optimization.apply_default_optimizations = False
        options.autotune.enabled = False
        dataset = tf.data.Dataset.from_tensor_slices(empty).with_options(options)
        return tf.raw_ops.MakeIterator(
            dataset=tf.data.experimental.to_variant(dataset),
            iterator=strategies.find_iterator_handle(iterator),
        )


def _choose_shape(spec: tf.TensorSpec) -> list[int]:
    """Returns a shape that matches a spec."""
    return [] if spec.shape.rank is None else [size or 0 for size in spec.shape.as_list()]


def ends_input(error_type: type[BaseException]) -> bool:
    """Returns whether an error means the end of the input, as for a MonitoredSession."""
    return error_type in (tf.errors.OutOfRangeError, StopIteration)


def _exists(checkpoint_path: str) -> bool:
    """Returns whether a checkpoint exists; TensorFlow's own function logs a deprecation."""
    path = glob.escape(checkpoint_path)
    files = (f"{path}.index", f"{path}-?????-of-?????", path)
    return any(tf.io.gfile.glob(pattern) for pattern in files)


def _find_fingerprint(checkpoint_path: str) -> tuple[Any, ...]:
    """Returns a fingerprint of a checkpoint, different after another is written to its path."""
    return compute_fingerprint(checkpoint_path + ".index")
