"""Messages of errors that TensorFlow raised while a session ran."""

import contextlib
import os
import re
import sysconfig
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import tensorflow as tf

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
