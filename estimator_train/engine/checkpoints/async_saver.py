"""Checkpoints that are written by a thread while training continues."""

import functools
import os
import threading
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals
from estimator_train.engine.checkpoints.graph_files import GraphFiles
from estimator_train.engine.checkpoints.integrity import mark_good, remove_unfinished
from estimator_train.engine.hook_types import (
    Hook,
    Listener,
    PassiveHook,
    RunContext,
    RunValues,
    SaverHook,
)

_LOST_SESSION = (tf.errors.AbortedError, tf.errors.UnavailableError)
_WRITES = "SaveV2"
_FIRST_VALUE = 3  # Of a SaveV2 operation's inputs: prefix, names, slices, then the values.


class CheckpointWriteError(OSError):
    """A checkpoint could not be written, as when a disk is full.

    It is not one of TensorFlow's errors: a full disk can be an OutOfRangeError there, which is also
    the end of the input.
    """


class AsyncSaver:
    """Stands for a Scaffold's Saver: copies the values at a save, and has a thread write them.

    One save is written at a time; the next waits for it. A Saver that cannot be taken apart like
    this (one of the user's own making, or of the old format) saves at once, as ever.

    Args:
      scaffold: The model's Scaffold, whose Saver may be made later, with the session.
      beside: Whether training continues meanwhile; if not, it waits for each save.
      writes_graph: Whether the graph is written with each checkpoint, whatever `save` is told.
    """

    def __init__(
        self,
        scaffold: tf.compat.v1.train.Scaffold,
        beside: bool = True,
        writes_graph: bool = False,
    ) -> None:
        self._scaffold = scaffold
        self._beside = beside
        self._writes_graph = writes_graph
        self._text_of: tf.Graph | None = None
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._graph: tf.Graph | None = None
        self._values: list[tf.Tensor] = []
        self._copies: list[tf.Tensor] = []

    @functools.cached_property
    def _graph_files(self) -> GraphFiles | None:
        return GraphFiles() if self._writes_graph else None

    @property
    def saver_def(self) -> Any:
        """The Saver's, for those who write it into a graph."""
        return self._scaffold.saver.saver_def

    def save(self, session: tf.compat.v1.Session, save_path: str, **arguments: Any) -> None:
        """Copies all values as they are now; returns before they are written.

        Args:
          session: A raw session.
          save_path: As for `tf.compat.v1.train.Saver.save`.
          **arguments: The others of that method.
        """
        self.wait()
        if self._graph_files and self._text_of is not session.graph:
            self._graph_files.write_text(session.graph, os.path.dirname(save_path))
            self._text_of = session.graph
        if self._beside and self._graph is not session.graph:
            self._take_apart(self._scaffold.saver, session.graph)
        if not self._values:
            self._write_now(session, save_path, arguments)
            return
        copied = dict(zip(self._values, session.run(self._copies), strict=True))
        if not all(tensor.shape.is_compatible_with(copied[tensor].shape) for tensor in copied):
            # They came from a checkpoint of another shape, and cannot be fed.
            self._write_now(session, save_path, arguments)
            return
        frozen = _Frozen(session, copied)
        self._thread = threading.Thread(
            target=self._write, args=(frozen, save_path, arguments), name="checkpoint-writer"
        )
        self._thread.start()

    def wait(self) -> None:
        """Waits until nothing is being written.

        Raises:
          Exception: What the write failed with.
        """
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self.raise_error()

    def raise_error(self) -> None:
        """Raises what a write failed with, if one has failed since the last call."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    def settle(self) -> None:
        """Waits as `wait` does, but keeps an error for it; for before a session closes."""
        if self._thread is not None:
            self._thread.join()

    def _take_apart(self, saver: tf.compat.v1.train.Saver, graph: tf.Graph) -> None:
        """Finds the values that are written, and adds their copies to the graph."""
        self._graph = graph
        self._values, self._copies = [], []
        if not _saves_as_tensorflow(saver):
            return
        save_tensor = graph.as_graph_element(saver.saver_def.save_tensor_name)
        values = _written_values(save_tensor.op)
        if any(value.dtype in (tf.variant, tf.resource) for value in values):
            return
        self._values = values
        # A fetched tensor that the graph itself still holds is copied by one thread, much slower.
        with tf_internals.reopened(graph), graph.as_default(), tf.name_scope("checkpoint_copies"):
            self._copies = [_copy(value) for value in self._values]

    def _write(self, frozen: "_Frozen", save_path: str, arguments: dict[str, Any]) -> None:
        try:
            # What is the default graph is each thread's own.
            with frozen.graph.as_default():
                self._write_now(frozen, save_path, arguments)
        except BaseException as error:
            self._error = error

    def _write_now(self, session: Any, save_path: str, arguments: dict[str, Any]) -> None:
        saver, files = self._scaffold.saver, self._graph_files
        if files:  # A saver of the user's writes the `.meta` itself.
            files = files if _saves_as_tensorflow(saver) else None
            arguments = {**arguments, "write_meta_graph": files is None}
        try:
            checkpoint = saver.save(session, save_path, **arguments)
            if files and checkpoint:
                files.write_meta(saver, session.graph, checkpoint)
            mark_good(checkpoint)
        except tf.errors.OpError as error:
            remove_unfinished(f"{save_path}-{arguments.get('global_step')}")
            if isinstance(error, _LOST_SESSION):
                raise  # MonitoredSession answers it by a new session.
            state = tf.train.get_checkpoint_state(os.path.dirname(save_path))
            last = state.model_checkpoint_path if state else "none"
            raise CheckpointWriteError(
                f"The checkpoint of step {arguments.get('global_step')} could not be written to "
                f"{os.path.dirname(save_path)}: {_reason(error)}. The last one is {last}."
            ) from error


def saver_hooks(
    saver: AsyncSaver,
    listeners: Sequence[Listener],
    model_dir: str,
    *,
    save_secs: float | None,
    save_steps: int | None,
) -> list[Hook]:
    """The hook that has a saver write checkpoints, and one that tells of a write that failed.

    Args:
      saver: Writes them.
      listeners: Called before and after each.
      model_dir: Where they are written.
      save_secs: Seconds between two, or None.
      save_steps: Steps between two, or None.
    """
    saves = SaverHook(
        model_dir,
        save_secs=save_secs,
        save_steps=save_steps,
        listeners=[SettledSaves(saver, listeners), *listeners],
        save_graph_def=False,  # The saver writes it.
        saver=saver,
    )
    return [saves, FailedWriteHook(saver)]


class SettledSaves(Listener):
    """Has other listeners find what they count on: a checkpoint that is written.

    It stands before them. A listener with a method `needs_checkpoint(global_step)` is asked whether
    it needs this one; any other that has an `after_save` does.

    Args:
      saver: The saver whose checkpoints they are.
      listeners: The other listeners.
    """

    def __init__(
        self,
        saver: AsyncSaver,
        listeners: Sequence[Listener],
    ) -> None:
        self._saver = saver
        self._listeners = listeners

    def after_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Waits for the write if a listener needs it."""
        if any(_needs_checkpoint(listener, global_step_value) for listener in self._listeners):
            self._saver.wait()

    def end(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Waits for the last write."""
        self._saver.wait()


class FailedWriteHook(PassiveHook):
    """Stops training when a checkpoint could not be written."""

    def __init__(self, saver: AsyncSaver) -> None:
        self._saver = saver

    def after_loop(self, steps: int, loss: Any) -> None:
        """Raises the error of a write."""
        self._saver.raise_error()

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Raises the error of a write."""
        self._saver.raise_error()


class _Frozen(tf_internals.SessionInterface):
    """A session for a Saver in which some tensors have the values of an earlier moment."""

    def __init__(self, session: tf.compat.v1.Session, values: dict[tf.Tensor, Any]) -> None:
        self._session = session
        self._by_name = {tensor.name: value for tensor, value in values.items()}

    @property
    def graph(self) -> tf.Graph:
        """The session's graph."""
        return self._session.graph

    def run(self, fetches: Any, feed_dict: Any = None) -> Any:
        """Runs the fetches on the values of that moment."""
        return self._session.run(fetches, {**self._by_name, **(feed_dict or {})})


def _saves_as_tensorflow(saver: Any) -> bool:
    """Whether a saver's `save` is that of TensorFlow's Saver, and none of the user's."""
    saves = tf.compat.v1.train.Saver.save
    found = getattr(saver.save, "__func__", None) is saves
    # One that hands on to a Saver's `save` may do more when it is asked for it.
    return found and isinstance(saver, tf.compat.v1.train.Saver)


def _reason(error: tf.errors.OpError) -> str:
    """What is wrong, without the stack of the operation that met it."""
    lines = [line.strip() for line in error.message.splitlines()]
    return next((line for line in lines if "; " in line), lines[0])


def _needs_checkpoint(listener: Any, global_step: int) -> bool:
    if hasattr(listener, "needs_checkpoint"):
        return bool(listener.needs_checkpoint(global_step))
    ignores = Listener.after_save
    return getattr(listener.after_save, "__func__", None) is not ignores


def _written_values(save: tf.Operation) -> list[tf.Tensor]:
    """All tensors that are written when `save` runs; constants and strings are not asked."""
    values: dict[str, tf.Tensor] = {}
    seen: set[str] = set()
    stack = [save]
    while stack:
        operation = stack.pop()
        if operation.name in seen:
            continue
        seen.add(operation.name)
        if operation.type == _WRITES:
            written = operation.inputs[_FIRST_VALUE:]
            values.update((value.name, value) for value in written if value.op.type != "Const")
            continue
        stack += [*operation.control_inputs, *(tensor.op for tensor in operation.inputs)]
    return list(values.values())


def _copy(value: tf.Tensor) -> tf.Tensor:
    if value.dtype.is_floating or value.dtype.is_integer:
        return tf.raw_ops.DeepCopy(x=value)
    return value
