"""Saver that copies the variables and writes checkpoints in a thread, and files of their graph."""

import functools
import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from google.protobuf import text_format

from estimator_train import remote
from estimator_train.cluster.launched import MEMORY_VARIABLE, report_checkpoint
from estimator_train.engine import storage
from estimator_train.engine.checkpoints.integrity import (
    Fingerprint,
    add_writer,
    fingerprint_checkpoint,
    is_large,
    mark_intact,
)
from estimator_train.engine.checkpoints.large_values import (
    SeparateWrite,
    SubstituteSession,
    copy_values,
    find_written_values,
    write_parts,
)
from estimator_train.engine.checkpoints.memory_copy import find_copy
from estimator_train.engine.checkpoints.model_dir import (
    remove_leftovers,
    remove_unfinished,
    set_aside_damaged,
)
from estimator_train.engine.storage import atomic_write
from estimator_train.engine.tf_internals import graphs
from estimator_train.engine.tf_internals.constants import count_bytes
from estimator_train.engine.tf_internals.tf_hooks import SteadySaver
from estimator_train.goodput import CHECKPOINTS, process_clock

_TEXT = "graph.pbtxt"
_LOST_SESSION = (tf.errors.AbortedError, tf.errors.UnavailableError)
# Larger variables are not copied; training waits while they are written.
MAX_COPIED_BYTES = 2**29


class GraphFiles:
    """The files that TensorFlow's Saver and its hook write of a graph, with less work."""

    def __init__(self) -> None:
        self._written: tf.Graph | None = None
        self._serialized: tuple[Any, ...] | None = None
        self._meta = b""

    def serialize_meta(self, saver: tf.compat.v1.train.Saver, graph: tf.Graph) -> bytes:
        """Returns the content of a `.meta` file; serializes the graph only if it has changed.

        Args:
          saver: The Saver that writes the checkpoint.
          graph: The graph of the checkpoint; no other thread may change it now.
        """
        sizes = {name: len(graph.get_collection_ref(name)) for name in graph.collections}
        state = (graph, graph.version, saver, sizes)
        if self._serialized != state:
            with graph.as_default():
                self._meta = saver.export_meta_graph().SerializeToString(deterministic=True)
            self._serialized = state
        return self._meta

    def write_text(self, graph: tf.Graph, directory: str) -> None:
        """Writes a graph as text, unless this method wrote it before.

        Args:
          graph: The graph.
          directory: The directory of `graph.pbtxt`.
        """
        if graph is self._written:
            return
        tf.io.gfile.makedirs(directory)
        definition = graph.as_graph_def(add_shapes=True)
        text = str(definition) if _prints_text() else text_format.MessageToString(definition)
        atomic_write(os.path.join(directory, _TEXT), text)
        self._written = graph


@functools.cache
def _prints_text() -> bool:
    """Returns whether text_format can parse the `str` of a message.

    `str` is many times as fast as text_format's printer, which is Python code, but protobuf does
    not guarantee that its output can be parsed.
    """
    with tf.Graph().as_default() as graph:
        tf.constant([0.1, float("nan"), float("-inf")], name="numbers")
        tf.constant([b"\x00\xff\n", '"\\é'.encode()], name="strings")
        definition = graph.as_graph_def(add_shapes=True)
    try:
        return bool(text_format.Parse(str(definition), tf.compat.v1.GraphDef()) == definition)
    except text_format.ParseError:
        return False


class CheckpointWriteError(OSError):
    """Error for a checkpoint that could not be written, for example on a full disk.

    It is no error of TensorFlow: there a full disk can raise OutOfRangeError, which also marks the
    end of the input.
    """


class AsyncSaver:
    """Saver that copies the values of the variables and writes them in a thread.

    It replaces the Saver of a Scaffold. One write runs at a time, and the next save waits until it
    has ended. A Saver with the user's `save` method, or of the old checkpoint format, has no values
    that can be copied; training waits while it saves, and while it saves over 512 MiB.

    Args:
      scaffold: The model's Scaffold; its Saver may be created later, with the session.
      asynchronous: Whether training continues during a write.
      writes_graph: Whether each checkpoint includes the graph, whatever the arguments of `save`.
      on_save: Function that is called with the global step after each save; or None.
      saves_interim_copy: Whether a session that restored an interim copy writes it as a checkpoint
        when it begins, because listeners read the checkpoints.

    Attributes:
      asynchronous: Whether training continues during a write.
      checkpoint_before_copy: The latest checkpoint, if the session restored an interim copy.
      has_memory: Whether the launcher of this process provides a directory in shared memory.
    """

    def __init__(
        self,
        scaffold: tf.compat.v1.train.Scaffold,
        asynchronous: bool = True,
        writes_graph: bool = False,
        on_save: Callable[[int], None] | None = None,
        saves_interim_copy: bool = False,
    ) -> None:
        self._scaffold = scaffold
        self.asynchronous = asynchronous
        self._writes_graph = writes_graph
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._graph: tf.Graph | None = None
        self._values: list[tf.Tensor] = []
        self._copies: list[tf.Tensor] = []
        self._parts: tf.Tensor | None = None
        self._separate_write: SeparateWrite | None = None
        self._restored: tuple[str, tuple[Fingerprint, ...]] | None = None
        self._is_restart = False
        self._saves_interim_copy = saves_interim_copy
        self.checkpoint_before_copy: str | None = None
        self.has_memory = bool(os.environ.get(MEMORY_VARIABLE))
        self._on_save = on_save
        self._steady_saver = SteadySaver()

    @functools.cached_property
    def _graph_files(self) -> GraphFiles | None:
        return GraphFiles() if self._writes_graph else None

    @property
    def saves_as_tensorflow(self) -> bool:
        """Whether the Saver's method `save` is TensorFlow's, not one of the user."""
        saver = self._scaffold.saver
        save = getattr(getattr(saver, "save", None), "__func__", None)
        # An object that only delegates to a Saver may do more in its `save`.
        return save is tf.compat.v1.train.Saver.save and isinstance(saver, tf.compat.v1.train.Saver)

    @property
    def saver_def(self) -> tf.compat.v1.train.SaverDef:
        """The definition of the Saver, for programs that write it into a graph."""
        return self._scaffold.saver.saver_def

    def set_restored(self, path: str | None, is_interim: bool = False) -> None:
        """Stores the checkpoint that a new session restored, if it need not be written again.

        A large one is not, and neither is one that this job has in memory: the job was restarted,
        and its first step comes earlier without the write.

        Args:
          path: The path prefix, or None if the session initialized its variables.
          is_interim: Whether the session restored an interim copy, of a step after that checkpoint.
        """
        self.checkpoint_before_copy = self._restored = None
        if path is None or (is_interim and self._saves_interim_copy):
            return
        if is_interim:
            self.checkpoint_before_copy = path
        files = fingerprint_checkpoint(path)
        self._is_restart = is_interim or find_copy(path, files) is not None
        if self._is_restart or is_large(files):
            self._restored = path, files

    def save(self, session: tf.compat.v1.Session, save_path: str, **arguments: Any) -> None:
        """Copies the current values of all variables and starts the write.

        Args:
          session: A raw session.
          save_path: Path prefix without the step, as in `tf.compat.v1.train.Saver.save`.
          **arguments: Other arguments of that method.
        """
        with process_clock.spend(CHECKPOINTS):
            self._save(session, save_path, arguments)
        if self._on_save is not None:
            self._on_save(int(arguments["global_step"]))

    def _save(
        self, session: tf.compat.v1.Session, save_path: str, arguments: dict[str, Any]
    ) -> None:
        self.wait()
        restored, self._restored = self._restored, None
        if restored and not self.checkpoint_before_copy:
            path = f"{save_path}-{arguments.get('global_step')}"
            restored = restored if restored == (path, fingerprint_checkpoint(path)) else None
        if restored and self._is_restart:
            report_checkpoint(restored[0])  # The next save writes the graph.
            return
        if self._graph_files:
            self._graph_files.write_text(session.graph, os.path.dirname(save_path))
        if restored:
            # The session has just restored these values. Its graph may be another.
            _write_meta(restored[0], self._serialize_meta(session.graph))
            report_checkpoint(restored[0])
            return
        frozen = self.copy_values(session)
        # In this thread, which may add operations to the graph while another one writes.
        meta = self._serialize_meta(session.graph)
        if frozen is not None:
            write = functools.partial(self._write, frozen, save_path, arguments, meta)
            add_writer(os.path.dirname(save_path), self.start_writing(write))
            return
        if self._parts is not None:
            save_name = self.saver_def.save_tensor_name
            session = SubstituteSession(session, {}, {save_name: self._parts})
        self._write_now(session, save_path, arguments, meta)

    def copy_values(self, session: tf.compat.v1.Session) -> SubstituteSession | None:
        """Copies the current values of all variables.

        Args:
          session: A raw session.

        Returns:
          A session in which the Saver writes these values; None if they cannot be copied.
        """
        if self.asynchronous and self._graph is not session.graph:
            self._find_values(session.graph)
        if not self._values:
            return None
        copied = dict(zip(self._values, session.run(self._copies), strict=True))
        # A scalar string is a bytes object, which has no shape.
        if not all(tensor.shape.is_compatible_with(np.shape(copied[tensor])) for tensor in copied):
            return None  # A checkpoint gave a variable another shape; its value cannot be fed.
        # A session that wraps another one, such as a debugger's, sees the call that writes.
        is_plain = type(session) is tf.compat.v1.Session
        return SubstituteSession(session, copied, write=self._separate_write if is_plain else None)

    @property
    def is_writing(self) -> bool:
        """Whether a thread writes values now."""
        return self._thread is not None and self._thread.is_alive()

    def start_writing(self, write: Callable[[], None]) -> threading.Thread:
        """Writes values in a thread and returns it; the next save waits until it has ended."""
        self._thread = thread = threading.Thread(target=write, name="checkpoint-writer")
        thread.start()
        return thread

    def wait(self) -> None:
        """Waits for the end of the write.

        Raises:
          Exception: The error of the write.
        """
        if self._thread is not None:
            with process_clock.spend(CHECKPOINTS):
                self._thread.join()
            self._thread = None
        self.raise_error()

    def raise_error(self) -> None:
        """Raises the error of a write that has failed since the last call, if there is one."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    def join_writer(self) -> None:
        """Waits for the end of the write before a session closes; `wait` raises its error later."""
        if self._thread is not None:
            self._thread.join()

    def _find_values(self, graph: tf.Graph) -> None:
        """Finds the values that the Saver writes, and adds operations that copy or write them."""
        self._graph = graph
        self._values, self._copies, self._parts, self._separate_write = [], [], None, None
        if not self.saves_as_tensorflow:
            return
        save_tensor = graph.as_graph_element(self.saver_def.save_tensor_name)
        values = find_written_values(save_tensor.op)
        if any(value.dtype in (tf.variant, tf.resource) for value in values):
            return
        with graphs.reopen_for_context(graph), graph.as_default():
            if sum(map(count_bytes, values)) > MAX_COPIED_BYTES:
                self._parts = write_parts(self.saver_def)
            else:
                self._values, self._copies = values, copy_values(values)
                separate = SeparateWrite(save_tensor, values)
                self._separate_write = separate if separate.is_possible else None

    def _write(
        self,
        frozen: SubstituteSession,
        save_path: str,
        arguments: dict[str, Any],
        meta: bytes | None,
    ) -> None:
        try:
            # Each thread has its default graph.
            with frozen.graph.as_default():
                self._write_now(frozen, save_path, arguments, meta)
        except BaseException as error:
            self._error = error

    def _write_now(
        self, session: Any, save_path: str, arguments: dict[str, Any], meta: bytes | None
    ) -> None:
        if self._graph_files:  # A Saver of the user writes the `.meta` file itself.
            arguments = {**arguments, "write_meta_graph": not self.saves_as_tensorflow}
        path = f"{save_path}-{arguments.get('global_step')}"
        try:
            set_aside_damaged(path)
            if isinstance(self._scaffold.saver, tf.compat.v1.train.Saver):
                self._steady_saver.adjust(self._scaffold.saver)
            checkpoint = self._scaffold.saver.save(session, save_path, **arguments)
            if checkpoint:  # A `save` of the user may return nothing.
                _write_meta(checkpoint, meta)
                mark_intact(checkpoint)
            report_checkpoint(path)
            remove_leftovers(save_path)
        except tf.errors.OpError as error:
            is_store_away = remote.is_transient(error)
            if not is_store_away:
                remove_unfinished(path)
            if isinstance(error, _LOST_SESSION) and not is_store_away:
                raise  # MonitoredSession opens a new session.
            message = (
                f"The checkpoint of step {arguments.get('global_step')} could not be written to "
                f"{os.path.dirname(save_path)}: {_find_first_cause(error)}."
            )
            if is_store_away:
                storage.end_job(message, error)
            state = tf.train.get_checkpoint_state(os.path.dirname(save_path))
            last = state.model_checkpoint_path if state else "none"
            raise CheckpointWriteError(f"{message} The last one is {last}.") from error

    def _serialize_meta(self, graph: tf.Graph) -> bytes | None:
        """Returns the content of `.meta` files; None if there is none, or the Saver writes it."""
        if not self._graph_files or not self.saves_as_tensorflow:
            return None
        return self._graph_files.serialize_meta(self._scaffold.saver, graph)


def _write_meta(checkpoint: str, meta: bytes | None) -> None:
    if meta is not None:
        atomic_write(f"{checkpoint}.meta", meta)


def _find_first_cause(error: tf.errors.OpError) -> str:
    """Returns the line of an error that names the cause, without the stack of the operation."""
    lines = [line.strip() for line in error.message.splitlines()]
    return next((line for line in lines if "; " in line), storage.take_first_line(error))
