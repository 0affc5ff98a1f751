"""Log messages of commands: short lines on standard error."""

import contextlib
import logging
import os
import re
import sys
import tempfile
from collections.abc import Iterator

# Messages of TensorFlow's C++ libraries while they are loaded, which ignore the log level.
_LOADING = re.compile(rb"[IWE]\d{4} |WARNING: All log messages before absl::InitializeLog")
# Messages of Python code that need no action: deprecations within TensorFlow, and a NaN loss,
# which also raises an error.
_IRRELEVANT = re.compile(r"deprecated and will be removed|^Model diverged with loss")


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
        with _hide_loading_messages():
            import tensorflow  # noqa: F401


@contextlib.contextmanager
def _hide_loading_messages() -> Iterator[None]:
    """Buffers standard error, and then writes the buffer without TensorFlow's loading messages."""
    sys.stderr.flush()
    standard_error = os.dup(2)
    with tempfile.TemporaryFile() as buffer:
        os.dup2(buffer.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(standard_error, 2)
            os.close(standard_error)
            buffer.seek(0)
            for line in buffer:
                if not _LOADING.match(line):
                    os.write(2, line)


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
