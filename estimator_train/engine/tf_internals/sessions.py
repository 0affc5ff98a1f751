"""Sessions: calls, errors after a fork, and the session that a MonitoredSession uses."""

import functools
import os
import re
from collections.abc import Callable, Sequence
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
