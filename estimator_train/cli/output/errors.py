"""The one-line message and the exit code of a failed command.

0: success. 1: an unexpected error. 2: bad input; the same command will fail again.
130: interrupted from the keyboard. 142: a step took too long. 143: saved at a signal, or the
storage failed. Schedulers restart a job whose exit code is 128 or more.
"""

import os
import re
import site
import sys
import sysconfig
import traceback
from pathlib import Path

from absl import flags as absl_flags

PROGRAM = "estimator-train"
_MAX_LENGTH = 600
_HOME = Path(__file__).parents[3]
_OWN_FOLDERS = tuple(
    f"{_HOME / name}{os.sep}" for name in ("estimator_train", "input_fns", "flags")
)
_LIBRARIES = ("<", *sysconfig.get_paths().values(), *site.getsitepackages())


class UsageError(ValueError):
    """Error for a flag that is missing or wrong, or that names something that does not exist."""


def report_error(error: BaseException, debug: bool) -> int:
    """Writes one line about an error to standard error.

    Args:
      error: The error that ended the command.
      debug: Whether to write the traceback too.

    Returns:
      The exit code.
    """
    if debug:
        traceback.print_exception(error)
    if isinstance(error, KeyboardInterrupt):
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return get_exit_code(error)
    if isinstance(error, BrokenPipeError):
        # The reader of our output, such as `head`, has closed it. Without this, Python would fail
        # when it flushes the output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    code = get_exit_code(error)
    text = summarize(error)
    if code == 1:
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
        if not debug:
            text += " (unexpected; --debug shows the traceback)"
    print(f"{PROGRAM}: error: {text}", file=sys.stderr)
    return code


def is_bad_input(error: BaseException) -> bool:
    """Returns whether the type of an error means bad input."""
    if isinstance(error, (absl_flags.Error, ValueError, TypeError, OSError, ImportError)):
        return True
    tf = sys.modules.get("tensorflow")  # If it is not loaded, the error is not from TensorFlow.
    return tf is not None and isinstance(
        error,
        (
            tf.compat.v1.train.NanLossDuringTrainingError,
            tf.errors.AlreadyExistsError,
            tf.errors.DataLossError,
            tf.errors.FailedPreconditionError,
            tf.errors.InvalidArgumentError,
            tf.errors.NotFoundError,
            tf.errors.OutOfRangeError,
            tf.errors.PermissionDeniedError,
            tf.errors.UnimplementedError,
        ),
    )


def is_from_user_code(error: BaseException) -> bool:
    """Returns whether the user's code, or a library that it called, raised an error."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.startswith(_OWN_FOLDERS):
            return False
        if not frame.filename.startswith(_LIBRARIES):
            return True
    return False


def get_exit_code(error: BaseException) -> int:
    """Returns the exit code for an error."""
    if isinstance(error, KeyboardInterrupt):
        return 130
    # Some errors of the engine define their exit code, for example errors of the storage.
    code = getattr(error, "exit_code", None)
    if isinstance(code, int):
        return code
    return 2 if is_bad_input(error) else 1


def summarize(error: BaseException) -> str:
    """Returns the line of an error's message that names the cause."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return _shorten(str(getattr(error, "message", None) or error))


def _shorten(message: str) -> str:
    """Removes the parts of TensorFlow's messages that do not help the user."""
    message = message.removeprefix("ERROR:: ")  # absl adds it to some messages.
    # "flags a=1, b=None: " with all flags of a rule, then the rule.
    message = re.sub(r"^flags \w+=.*?: ", "", message)
    # "Restoring from checkpoint failed. ", a guess at the cause, then the cause.
    guess = re.match(r"([^.\n]+)\. This is most likely .*?\n\s*", message)
    if guess:
        return f"{guess[1]}: {_shorten(message[guess.end() :])}"
    # "Detected at node ... (a stack) Node: 'name'", then the message.
    message = re.sub(r"Detected at node .*?\nNode: [^\n]*\n", "", message, flags=re.DOTALL)
    message = re.sub(r"^Graph execution error:\s*", "", message)
    message = re.sub(r"^\d+ root error\(s\) found\.\s*\(0\) (\w+: )?", "", message)
    # "in user code:", an indented stack, then the error in the user's line.
    message = re.sub(r"^in user code:\n.*\n\s+(?=\w+: )", "", message, flags=re.DOTALL)
    # "'{{node MatMul}} = MatMul[T=DT_FLOAT, ...](...)'", "{{function_node f}} {{node g}} "
    message = re.sub(r"'\{\{node (\S+)\}\} = [^']*'", r"'\1'", message)
    message = re.sub(r"\{\{\w+ [^}]*\}\}\s*", "", message)
    # The dataset's name for the place of an error, then the message.
    message = re.sub(
        r"^Error in user-defined function passed to \S+ transformation with iterator: \S+: ",
        "",
        message,
    )
    lines = [line.strip() for line in message.splitlines()]
    first = next((line for line in lines if line and not line.startswith("[[")), "")
    first = re.sub(r"^assertion failed: \[(.*)\]$", r"\1", first)
    return first if len(first) <= _MAX_LENGTH else first[: _MAX_LENGTH - 3] + "..."
