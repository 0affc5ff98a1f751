"""Failures of loops whose single steps run: errors of TensorFlow's runtime."""

import textwrap

import tensorflow as tf

_errors = tf.errors
# Types of errors that the runtime also raises in an operation of a step.
_RUNTIME_TYPES = (
    _errors.AbortedError,
    _errors.InternalError,
    _errors.ResourceExhaustedError,
    _errors.UnimplementedError,
)
# Types of errors that closed sessions and time limits cause.
_STOP_TYPES = (_errors.CancelledError, _errors.DeadlineExceededError)
# Types of errors that other tasks cause.
_CLUSTER_TYPES = (_errors.AbortedError, _errors.UnavailableError)
# An error of the model or its data names the operation that raised it.
_OPERATION = "{{node "
_PREFIX = "Graph execution error:"
_NEXT_STEP = (
    "TensorFlow could not run a loop of steps. RunConfig(steps_per_loop=1) trains with one step "
    "per session call."
)


class LoopFailedError(Exception):
    """Error for a loop that the runtime could not run; the message names the reason.

    Attributes:
      first_step: The global step at the start of the training; None in an evaluation.
    """

    first_step: int | None = None


def convert_failure(error: tf.errors.OpError, is_remote: bool) -> Exception | None:
    """Returns the error to raise for one of the first call of a loop; None for that error itself.

    An operation of the model or the input raises an error that names it. Any other error is a
    failure of the loop. So are the types of errors that operations and the runtime raise: an error
    of the input appears again in single steps.

    Args:
      error: The error.
      is_remote: Whether the session uses other tasks, which may wait for this one: then the error
        keeps its type, and names the next step.
    """
    if isinstance(error, _STOP_TYPES) or (is_remote and isinstance(error, _CLUSTER_TYPES)):
        return None
    if not isinstance(error, _RUNTIME_TYPES) and _OPERATION in error.message:
        return None
    if is_remote:
        return type(error)(error.node_def, error.op, f"{error.message}\n\n{_NEXT_STEP}")
    reason = textwrap.shorten(error.message.removeprefix(_PREFIX), 200)
    return LoopFailedError(f"{type(error).__name__}: {reason}")
