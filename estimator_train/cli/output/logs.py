"""What a command writes besides its results: short lines on standard error."""

import contextlib
import logging
import os
import re
import sys
import tempfile
from collections.abc import Iterator

# What TensorFlow's C++ libraries write while they are loaded, whatever their log level is.
_LOADING = re.compile(rb"[IWE]\d{4} |WARNING: All log messages before absl::InitializeLog")
# Python-side lines that ask nothing of the user: deprecations within TensorFlow, and a NaN loss,
# which the error says by itself.
_NOT_FOR_USERS = re.compile(r"deprecated and will be removed|^Model diverged with loss")


def set_up(debug: bool, loads_tensorflow: bool = True) -> None:
    """Makes log lines short, and loads TensorFlow without its start-up noise.

    Args:
      debug: Show all that is logged, in TensorFlow's own way.
      loads_tensorflow: Whether this command needs it, which takes seconds.
    """
    if debug:
        logging.basicConfig(level=logging.INFO)
        return
    handler = _AboveTheBar()
    handler.setFormatter(_OneLine())
    handler.addFilter(lambda record: not _NOT_FOR_USERS.search(record.getMessage()))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.captureWarnings(True)
    logging.getLogger("tensorflow").handlers.clear()  # One that it made itself.
    # Whatever it was, as images and schedulers set it; errors come as exceptions as well.
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    if loads_tensorflow:
        with _loading_noise_removed():
            import tensorflow  # noqa: F401


@contextlib.contextmanager
def _loading_noise_removed() -> Iterator[None]:
    """Holds back what is written to standard error, and writes all but the noise afterwards."""
    sys.stderr.flush()
    standard_error = os.dup(2)
    with tempfile.TemporaryFile() as held_back:
        os.dup2(held_back.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(standard_error, 2)
            os.close(standard_error)
            held_back.seek(0)
            for line in held_back:
                if not _LOADING.match(line):
                    os.write(2, line)


class _AboveTheBar(logging.Handler):
    """Writes to standard error without tearing a progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        from tqdm import tqdm

        tqdm.write(self.format(record), file=sys.stderr)


class _OneLine(logging.Formatter):
    """`warning: text`, of a longer text its first line."""

    def format(self, record: logging.LogRecord) -> str:
        text = record.getMessage().strip().partition("\n")[0]
        return f"{record.levelname.lower()}: {text}"
