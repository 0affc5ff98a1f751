"""Runs a behaviour case and records the result, error and log that a user would see."""

from __future__ import annotations

import logging
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tensorflow as tf
from jobs import Api

Case = Callable[[Api, str], Any]
CASES: dict[str, Case] = {}
_LEVELS: dict[str, int] = {}


def case(function: Case, log: str = "WARNING") -> Case:
    """Register a behaviour: a function of the API and an empty model directory.

    Args:
        function: A user's program; its return value is the result.
        log: Lines of this level and above belong to the behaviour.
    """
    if function.__name__ in CASES:
        raise ValueError(f"two cases are named {function.__name__}")
    CASES[function.__name__] = function
    _LEVELS[function.__name__] = getattr(logging, log)
    return function


def logged_case(function: Case) -> Case:
    """Register a behaviour whose INFO lines count."""
    return case(function, "INFO")


# Notices of TensorFlow and Keras about themselves, and one that comes with a slow machine.
_SKIPPED = (
    "deprecated",
    "Instructions for updating",
    "It seems that global step (tf.train.get_global_step) has not been increased",
)


class _Lines(logging.Handler):
    """Keeps log records, without TensorFlow's deprecation notices."""

    def __init__(self, level: int) -> None:
        super().__init__(level)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if not any(phrase in message for phrase in _SKIPPED):
            self.lines.append(f"{record.levelname} {message}")


def normalised(text: str, model_dir: str) -> str:
    """Text without what differs from run to run: paths, addresses, times, line numbers."""
    text = text.replace(model_dir, "<model_dir>")
    text = re.sub(r"/tmp/tmp\w+|/var/\S*/tmp\w+", "<tmp>", text)
    # Where a node was made: one line a frame, of files that are no behaviour.
    text = re.sub(r'(?m)^ *File "[^"]*", line \d+, in .*\n', "", text)
    text = re.sub(r"0x[0-9a-f]{6,}", "0x<address>", text)
    text = re.sub(r"\b1\d{9}\b", "<timestamp>", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[T-]\d\d:\d\d:\d\d(\.\d+)?", "<time>", text)
    text = re.sub(r"(Duration|Inference Time) *: *[\d.]+s", r"\1: <seconds>s", text)
    text = re.sub(r"\([\d.]+ sec\)", "(<seconds> sec)", text)
    text = re.sub(r"(Using config: ).*", r"\1<config>", text, flags=re.DOTALL)
    return re.sub(r"(global_step/sec: )[\d.e+-]+", r"\1<rate>", text)


def observe(function: Case, api: Api) -> dict[str, Any]:
    """Run one case in an empty directory.

    Returns:
        `{"result": value}` or `{"error": [type name, text]}`, and `"log"`: the lines that count
        as "LEVEL text".
    """
    model_dir = tempfile.mkdtemp(prefix="case")
    logger, handler = tf.get_logger(), _Lines(_LEVELS.get(function.__name__, logging.INFO))
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    seen: dict[str, Any] = {}
    try:
        seen["result"] = function(api, str(Path(model_dir) / "model"))
    except Exception as error:  # noqa: BLE001  whatever a user would see is the observation
        seen["error"] = [type(error).__name__, str(error)]
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        shutil.rmtree(model_dir, ignore_errors=True)
    seen["log"] = handler.lines
    return _clean(seen, str(Path(model_dir) / "model"))


def _clean(value: Any, model_dir: str) -> Any:
    if isinstance(value, str):
        return normalised(value, model_dir)
    if isinstance(value, dict):
        return {str(key): _clean(item, model_dir) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item, model_dir) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return f"{type(value).__name__} {normalised(str(value), model_dir)}"
