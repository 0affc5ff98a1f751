"""Asks the generated questions: `python -m breadth.asking OUT [--v1] [NAME ...]`, in one process.

An answer is what the use of the call came to, the class of an error, or "as usual": the answer to
the question in which the argument has its usual form.
"""

from __future__ import annotations

import contextlib
import math
import re
import signal
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from breadth import (
    odd,
    odd_canned_inputs,  # noqa: F401
    odd_canned_networks,  # noqa: F401
    odd_canned_optimizers,  # noqa: F401
    odd_exports,  # noqa: F401
    odd_exports_outputs,  # noqa: F401
    odd_heads,  # noqa: F401
    odd_heads_several,  # noqa: F401
    odd_keras,  # noqa: F401
    odd_keras_compiled,  # noqa: F401
    odd_kmeans,  # noqa: F401
    odd_linear,  # noqa: F401
    odd_logits,  # noqa: F401
    odd_recurrent,  # noqa: F401
    odd_tpu,  # noqa: F401
    odd_tpu_config,  # noqa: F401
    pairs,
    pairs_kinds,
    subjects,
    subjects_canned,  # noqa: F401
    subjects_config,  # noqa: F401
    subjects_verbs,  # noqa: F401
)
from jobs import Api

USUAL = "as usual"
# Questions without training, and one method: also asked without TensorFlow 2 behaviour.
IN_BOTH = re.compile(
    r"v[12] (?!.*: )(RunConfig|TrainSpec|EvalSpec|WarmStart|VocabInfo|\w+Exporter|"
    r"\w+_parse_|export\.|experimental\.build|inputs|tpu|EstimatorSpec|Estimator\.eval_dir|Estimator\.predict)"
)
TOLERANCE = 2e-4
SECONDS = 150


def all_questions(apis: dict[str, Api]) -> dict[str, Any]:
    """Returns every question by its name."""
    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        found = {question.name: question for question in subjects.questions(apis, directory)}
    return {**found, **pairs.questions(), **pairs_kinds.questions(), **odd.ODD}


def answers(apis: dict[str, Api], names: Iterable[str] | None = None) -> dict[str, Any]:
    """Returns the answers to questions, by default to all."""
    known = all_questions(apis)
    return {name: answer(known[name], apis) for name in (known if names is None else names)}


def compact(found: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Returns the answers with "as usual" where one is that of the usual form."""
    return {name: USUAL if _is_usual(name, found, known) else found[name] for name in found}


def _is_usual(name: str, found: dict[str, Any], known: dict[str, Any]) -> bool:
    usual = getattr(known[name], "usual", None)
    return usual is not None and alike(found[name], found[usual])


def expected(name: str, golden: dict[str, Any], known: dict[str, Any]) -> Any:
    """Returns the recorded answer to a question, in full."""
    return golden[known[name].usual] if golden[name] == USUAL else golden[name]


def answer(question: Any, apis: dict[str, Api]) -> Any:
    """Returns the answer to a question, as JSON values."""
    tf.compat.v1.reset_default_graph()
    apis["v2"].keras.backend.clear_session()
    # A thread of a training that failed may still write its events while they are removed.
    kept = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    with kept as directory, _limited(), _quiet():
        try:
            return plain(question.ask(apis[question.flavour], directory), directory)
        except Exception as error:  # noqa: BLE001  whatever a user would see is the answer
            return {"error": _public_name(error)}


def _public_name(error: Exception) -> str:
    """Returns the name of an error's first class that is public in both packages."""
    known = ("builtins", "tensorflow.python", "tf_keras", "keras")
    return next(c.__name__ for c in type(error).__mro__ if c.__module__.startswith(known))


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Raises TimeoutError if the question takes too long."""

    def end(*_: Any) -> None:
        raise TimeoutError(f"no answer after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    logger = tf.get_logger()
    disabled, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = disabled


def plain(value: Any, directory: str) -> Any:
    """Returns the value as JSON: its visible properties, without names of the program's classes."""
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str):
        return str(value).replace(directory, "DIR")
    if isinstance(value, dict):
        return {str(key): plain(item, directory) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(item, directory) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist(), directory)
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if value is None or isinstance(value, (bool, int)):
        return value if value is None or isinstance(value, bool) else int(value)
    if hasattr(value, "__fspath__"):
        return plain(value.__fspath__(), directory)
    if isinstance(value, tf.Tensor):
        return [value.dtype.name, str(value.shape)]
    return getattr(value, "__name__", None) or "object"


def alike(one: Any, other: Any) -> bool:
    """Equal, with floats within a relative 2e-4."""
    if isinstance(one, dict) and isinstance(other, dict):
        return sorted(one) == sorted(other) and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) or isinstance(other, float):
        if not (isinstance(one, (int, float)) and isinstance(other, (int, float))):
            return False
        near = math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=1e-6)
        return near or (math.isnan(one) and math.isnan(other))
    return one == other


def main() -> None:
    import argparse
    import json
    import time

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--ours", action="store_true", help="of estimator_train")
    parser.add_argument("--v1", action="store_true", help="without the behaviour of TensorFlow 2")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_intermixed_args()
    if asked.v1:
        tf.compat.v1.disable_v2_behavior()
    known = apis(asked.ours)
    names = [n for n in all_questions(known) if not asked.names or n in asked.names]
    start = time.time()
    found = answers(known, names)
    with open(asked.out, "w", encoding="utf-8") as file:
        json.dump(found, file)
    print(f"{len(found)} answers in {time.time() - start:.0f} s")


def apis(ours: bool) -> dict[str, Api]:
    """Returns the flavours of the original, or of estimator_train."""
    if not ours:
        from jobs import original_apis

        return {api.name: api for api in original_apis()}
    import flavours

    return flavours.ours()


if __name__ == "__main__":
    main()
