"""Sessions: calls, messages of errors, and the session that a MonitoredSession uses."""

import contextlib
import functools
import os
import re
import sysconfig
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

# Why internal: the message has no public name (see `prepare_session_call`).
from tensorflow.core.protobuf.config_pb2 import CallableOptions

# Why internal: a Saver takes as its session only what inherits from this (see `SubstituteSession`).
from tensorflow.python.client.session import SessionInterface as SessionInterface

# An operation of a step as an error in a loop names it.
_LOOP_NODE = re.compile(r"\{\{function_node while_body_\d+\}\}\{\{node step/([^}]+)\}\}")
# The process whose first session started the threads that all its sessions share.
_process: int | None = None
_ADVICE = (
    "TensorFlow's threads are not in a forked process, so its sessions wait there for ever. Open "
    "predictors and call Estimators after the fork only: start Gunicorn without --preload, and "
    'processes of Python by multiprocessing.get_context("spawn").'
)
_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'^ +File "([^"\n]+)", line \d+, in .*(?:\n    (?! *File ").*)*', re.MULTILINE)
_NODE = re.compile(r"Detected at node [^\n]*\n((?: +[^\n]*\n|\n)*)(?:Node: [^\n]*\n)?")
_PREFIX = re.compile(
    r"(?:Graph execution error:\s*|\d+ root error\(s\) found\.\s*\(0\) (?:[A-Z_]+: )?"
    r"|Error in user-defined function passed to \S+ transformation with iterator: \S+: )*"
)
_OTHER_ROOT = re.compile(r"\n  \(1\) ")
_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]")
_HOME = Path(__file__).parents[3]
_LIBRARY_FOLDERS = tuple(
    os.path.join(folder, "")
    for folder in (
        sysconfig.get_paths()["stdlib"],
        *(str(_HOME / name) for name in ("estimator_train", "tf_contrib", "input_fns", "flags")),
    )
)


def prepare_session_call(
    session: tf.compat.v1.Session,
    feeds: Sequence[tf.Tensor],
    fetches: Sequence[tf.Tensor],
    *,
    in_this_thread: bool = False,
) -> Callable[..., list[Any]]:
    """Returns a function from the values of `feeds` (NumPy arrays) to those of `fetches`.

    Why internal: the public `make_callable` goes the way of `Session.run` as soon as there are
    feeds or options, and takes apart feeds and fetches again at each call.

    Args:
      session: A raw session.
      feeds: Tensors whose values the function takes.
      fetches: Tensors whose values it returns.
      in_this_thread: Whether the caller's thread runs the operations, one after the other.
    """
    options = CallableOptions()
    options.run_options.inter_op_thread_pool = -1 if in_this_thread else 0
    options.feed.extend(tensor.name for tensor in feeds)
    options.fetch.extend(tensor.name for tensor in fetches)
    return _locate_errors(session, session._make_callable_from_options(options))


def prepare_run(session: tf.compat.v1.Session, fetches: Any) -> Callable[[], Any]:
    """Returns a function without arguments that returns the values of `session.run(fetches)`.

    Args:
      session: A raw session.
      fetches: A structure of lists, tuples, dictionaries, tensors, operations and names.
    """
    return _locate_errors(session, session.make_callable(fetches))


def _locate_errors(session: tf.compat.v1.Session, call: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function with errors that name the line of the program, as in `Session.run`.

    Why internal: the errors of prepared calls name only the operation, and no public function finds
    the line that made it.
    """

    def run(*values: Any) -> Any:
        try:
            return call(*values)
        except tf.errors.OpError as error:
            message = _LOOP_NODE.sub(r"{{node \1}}", error.message)
            raise type(error)(error.node_def, error.op, message) from None

    return functools.partial(session._do_call, run)


def find_current_session(session: tf.compat.v1.train.MonitoredSession) -> tf.compat.v1.Session:
    """Returns the raw session that a MonitoredSession uses now.

    A MonitoredSession that recovers from the failure of another task creates a new raw session. The
    context that `run_step_fn` passes to its function still has the old one.
    """
    return session._tf_sess()


class ForkedSessionError(RuntimeError):
    """A process was forked from one that had opened a session, and uses a session."""


def check_threads(config: tf.compat.v1.ConfigProto | None) -> None:
    """Raises an error if a session that is opened now would wait for ever.

    A session with threads of its own, or without threads, computes small models after a fork.

    Args:
      config: Configuration of the session.

    Raises:
      ForkedSessionError: This process was forked after a session of the original process.
    """
    global _process
    if config is not None and (
        config.use_per_session_threads
        or config.inter_op_parallelism_threads < 0
        or config.session_inter_op_thread_pool
    ):
        return
    if _process is None:
        _process = os.getpid()
    elif _process != os.getpid():
        raise ForkedSessionError(
            f"Process {os.getpid()} was forked from process {_process}, which had opened a "
            f"session. {_ADVICE}"
        )


def check_opened_here(process: int) -> None:
    """Raises an error if another process opened a session.

    Args:
      process: The process that opened it.

    Raises:
      ForkedSessionError: This process is another one.
    """
    if process != os.getpid():
        raise ForkedSessionError(
            f"Process {process} opened this predictor before it forked process {os.getpid()}. "
            f"{_ADVICE}"
        )


@contextlib.contextmanager
def shorten_errors(explain: Callable[[tf.errors.OpError, str], str | None]) -> Iterator[None]:
    """Makes an error's message one line that `explain` returns, or the cause and the user's lines.

    TensorFlow puts frames of libraries into the message, of the code that made an operation or
    that raised an error in Python, repeats the message after those frames, and raises its error
    while it handles the same one.

    Args:
      explain: Function of an error and its cause in TensorFlow's words; it returns a line about
        the user's data, or None.

    Why internal: an error of TensorFlow has its message in a private attribute, and a program may
    have a reference to that error, so that another one cannot replace it.
    """
    try:
        yield
    except GeneratorExit:  # When Python exits, `tf` may have no value any more.
        raise
    except tf.errors.OpError as error:
        shortened = _shorten(error.message)
        cause = shortened.split("\n", 1)[0].strip()
        error._message = explain(error, cause) or shortened
        if isinstance(error.__context__, tf.errors.OpError):
            error.__suppress_context__ = True
        raise


def find_session_graph(error: tf.errors.OpError) -> tf.Graph | None:
    """Returns the graph of the session call that raised an error.

    Why internal: an error has no reference to its session, only the frames of the call do; errors
    of operations in functions and loops do not even have the operation.
    """
    if error.op is not None:
        return error.op.graph
    for frame, _ in traceback.walk_tb(error.__traceback__):
        session = frame.f_locals.get("self")
        if isinstance(session, tf.compat.v1.Session):
            return session.graph
    return None


def _shorten(message: str) -> str:
    """Returns the cause and, in the last lines, the user's frames."""
    # The user's code that made the first of the nodes, up to the call of a library.
    node = _NODE.search(message)
    message = _OTHER_ROOT.split(_NODE.sub("", message))[0]
    head, found, rest = message.partition(_TRACEBACK)
    # An exception that the user's code raised from another one comes last.
    frames = rest.rpartition(_TRACEBACK)[2] if found else node[1] if node else ""
    shown = [frame[0] for frame in _FRAME.finditer(frames) if _is_users(frame[1])]
    return "\n".join([_PREFIX.sub("", head, count=1).rstrip(), *shown])


def _is_users(path: str) -> bool:
    """Returns whether a file is not part of this package, an installed library or Python."""
    is_library = _INSTALLED.search(path) or path.startswith(_LIBRARY_FOLDERS)
    return os.path.isabs(path) and not is_library
