"""Log messages, errors and exit codes of commands."""

import errno
import logging
import os
import re
import site
import sys
import sysconfig
import traceback
from pathlib import Path

from absl import flags as absl_flags

from estimator_train.bootstrap.start_up import ANY_LOADING_LINE, hide_loading_lines
from estimator_train.lifecycle.limits import RETRYABLE_EXIT_CODE

# Messages of Python code that need no action: deprecations within TensorFlow, and a NaN loss,
# which also raises an error.
_IRRELEVANT = re.compile(r"deprecated and will be removed|^Model diverged with loss")
_FULL_DISK = [os.strerror(code) for code in (errno.ENOSPC, errno.EDQUOT)]
PROGRAM = "estimator-train"
_MAX_LENGTH = 600
_HOME = Path(__file__).parents[2]
_OWN_FOLDERS = tuple(
    f"{_HOME / name}{os.sep}" for name in ("estimator_train", "tf_contrib", "input_fns", "flags")
)
_LIBRARIES = ("<", *sysconfig.get_paths().values(), *site.getsitepackages())


def configure(debug: bool, loads_tensorflow: bool = True) -> None:
    """Makes log lines short, and loads TensorFlow without its messages at start-up.

    Args:
      debug: Whether to show all messages, in the format of TensorFlow.
      loads_tensorflow: Whether to load TensorFlow, which takes seconds.
    """
    if debug:
        logging.basicConfig(level=logging.INFO)
        return
    handler = _ProgressSafeHandler()
    handler.setFormatter(_OneLineFormatter())
    handler.addFilter(lambda record: not _IRRELEVANT.search(record.getMessage()))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.captureWarnings(True)
    logging.getLogger("tensorflow").handlers.clear()  # TensorFlow adds a handler.
    # This overrides a value from a container image or a scheduler. Errors are also exceptions.
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    if loads_tensorflow:
        with hide_loading_lines(ANY_LOADING_LINE):
            import tensorflow  # noqa: F401


class _ProgressSafeHandler(logging.Handler):
    """Handler that writes to standard error without damaging a progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        from tqdm import tqdm

        tqdm.write(self.format(record), file=sys.stderr)


class _OneLineFormatter(logging.Formatter):
    """Formatter of `warning: text`, with only the first line of the text."""

    def format(self, record: logging.LogRecord) -> str:
        text = record.getMessage().strip().partition("\n")[0]
        return f"{record.levelname.lower()}: {text}"


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
    if tf is not None and isinstance(error, tf.errors.ResourceExhaustedError):
        # The same class means that memory is exhausted, which another machine may have.
        return any(text in error.message for text in _FULL_DISK)
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
            tf.errors.UnauthenticatedError,
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
    if "tensorflow" in sys.modules:
        from estimator_train import remote

        if remote.is_transient(error):
            return RETRYABLE_EXIT_CODE
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
