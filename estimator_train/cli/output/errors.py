"""What a failed command says, in one line, and the exit code it ends with.

0: done. 1: an error that nobody foresaw. 2: bad input, which the same command will meet again.
130: interrupted from the keyboard. 142: a step took too long. 143: saved at a signal. Schedulers
start a job again whose code is 128 or more.
"""

import os
import re
import sys
import traceback

from absl import flags as absl_flags

PROGRAM = "estimator-train"
_MAX_LENGTH = 600


class UsageError(ValueError):
    """A flag is missing, wrong, or names something that is not there."""


def report(error: BaseException, debug: bool) -> int:
    """Writes one line about an error to standard error.

    Args:
      error: What ended the command.
      debug: Write the traceback as well.

    Returns:
      The exit code.
    """
    if debug:
        traceback.print_exception(error)
    if isinstance(error, KeyboardInterrupt):
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return code_of(error)
    if isinstance(error, BrokenPipeError):
        # Whoever read our output has enough, as `head` has; Python must not flush into it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    code = code_of(error)
    text = text_of(error)
    if code == 1:
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
        if not debug:
            text += " (unexpected; --debug shows where)"
    print(f"{PROGRAM}: error: {text}", file=sys.stderr)
    return code


def is_bad_input(error: BaseException) -> bool:
    """Whether an error is one that bad input leads to."""
    if isinstance(error, (absl_flags.Error, ValueError, TypeError, OSError, ImportError)):
        return True
    tf = sys.modules.get("tensorflow")  # Where it is not loaded, the error is not its own.
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


def code_of(error: BaseException) -> int:
    """The exit code that an error leads to."""
    if isinstance(error, KeyboardInterrupt):
        return 130
    return 2 if is_bad_input(error) else 1


def text_of(error: BaseException) -> str:
    """The line of an error's message that says what is wrong."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return _shortened(str(getattr(error, "message", None) or error))


def _shortened(message: str) -> str:
    """Cuts from a message of TensorFlow's what is not about the user's mistake."""
    message = message.removeprefix("ERROR:: ")  # absl's, before some of its texts.
    # "flags a=1, b=None: " with all flags of a rule, then the rule.
    message = re.sub(r"^flags \w+=.*?: ", "", message)
    # "Restoring from checkpoint failed. ", a guess at the cause, then the cause.
    guess = re.match(r"([^.\n]+)\. This is most likely .*?\n\s*", message)
    if guess:
        return f"{guess[1]}: {_shortened(message[guess.end() :])}"
    # "Detected at node ... (a stack) Node: 'name'", then the message.
    message = re.sub(r"Detected at node .*?\nNode: [^\n]*\n", "", message, flags=re.DOTALL)
    message = re.sub(r"^Graph execution error:\s*", "", message)
    message = re.sub(r"^\d+ root error\(s\) found\.\s*\(0\) (\w+: )?", "", message)
    # "in user code:", an indented stack, then the error of the user's own line.
    message = re.sub(r"^in user code:\n.*\n\s+(?=\w+: )", "", message, flags=re.DOTALL)
    # "'{{node MatMul}} = MatMul[T=DT_FLOAT, ...](...)'", "{{function_node f}} {{node g}} "
    message = re.sub(r"'\{\{node (\S+)\}\} = [^']*'", r"'\1'", message)
    message = re.sub(r"\{\{\w+ [^}]*\}\}\s*", "", message)
    # A dataset's own name for the place of an error, then the message.
    message = re.sub(
        r"^Error in user-defined function passed to \S+ transformation with iterator: \S+: ",
        "",
        message,
    )
    lines = [line.strip() for line in message.splitlines()]
    first = next((line for line in lines if line and not line.startswith("[[")), "")
    first = re.sub(r"^assertion failed: \[(.*)\]$", r"\1", first)
    return first if len(first) <= _MAX_LENGTH else first[: _MAX_LENGTH - 3] + "..."
