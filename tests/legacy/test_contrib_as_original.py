"""Our `tf.contrib`, as an old program sees it, compared with the answers of TensorFlow 1.15."""

from __future__ import annotations

import functools
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import forked
import numpy as np
import pytest
from legacy_programs import COMMAND, environment
from outcomes import GOLDEN

ASKS = Path(__file__).parents[1] / "oracle" / "contrib"
AREAS = sorted(path.stem.removeprefix("ask_") for path in ASKS.glob("ask_*.py"))
RECORDED = {
    area: json.loads((GOLDEN / f"contrib_{area}.json").read_text(encoding="utf-8"))
    for area in AREAS
}


# Our answers that differ: the texts of errors, None if the text is TensorFlow's and depends on its
# version; and complete answers, for which the question gives the reason.
OURS = json.loads(Path(__file__).with_name("contrib_ours.json").read_text(encoding="utf-8"))
# The slowest areas: complete networks, and estimators that are trained.
LONG = {
    *("batching", "crf", "data", "decoding", "estimator", "further_cells", "further_opt", "learn"),
    *(
        "learn_estimators",
        "legacy_attention",
        "legacy_seq2seq",
        "metrics",
        "monotonic",
        "optimize_loss",
        "rarer_cells",
        "rnn",
        "seq2seq",
        "slim_nets",
    ),
    *("slim_loops", "slim_nets_run", "structural", "timeseries", "training"),
}
QUESTIONS = [
    pytest.param(area, question, marks=[pytest.mark.long] if area in LONG else [])
    for area in AREAS
    for question in RECORDED[area]
]


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """Returns a function of an area that gives our answers, computed by an old program."""

    @functools.cache
    def answers(of_long: bool) -> dict[str, dict[str, Any]]:
        directory = tmp_path_factory.mktemp("answers")
        areas = [area for area in AREAS if (area in LONG) is of_long]
        done = subprocess.run(
            forked.python(COMMAND, "run", "--tf1", ASKS / "every_area.py", directory, *areas),
            env=environment(TF_USE_LEGACY_KERAS=1),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return {path.stem: json.loads(path.read_text("utf-8")) for path in directory.iterdir()}

    return lambda area: answers(area in LONG)[area]


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yields everything in lists and dicts, with its path."""
    parts = value.items() if isinstance(value, dict) else None
    parts = enumerate(value) if isinstance(value, list) else parts
    if parts is None:
        yield path, value
    else:
        yield f"{path}: size", len(value)
        for key, one in parts:
            yield from leaves(one, f"{path}/{key}")


def differences(original: dict[str, Any], actual: dict[str, Any], key: str) -> list[str]:
    if "error" in original or "error" in actual:
        expected_error = original.get("error"), OURS["texts"].get(key, original.get("text"))
        # An empty expected text accepts any text.
        text = re.sub("0x[0-9a-f]+", "0x", actual.get("text") or "")
        actual_error = actual.get("error"), text if expected_error[1] else expected_error[1]
        return [] if expected_error == actual_error else [f"{expected_error}, got {actual}"]
    left, right = dict(leaves(original)), dict(leaves(actual))
    return [
        f"{path}: {left.get(path)}, got {right.get(path)}"
        for path in sorted({*left, *right})
        if not _same(left.get(path), right.get(path))
    ]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return bool(np.isclose(one, other, rtol=1e-4, atol=1e-6, equal_nan=True))
    return type(one) is type(other) and one == other


# The first test of a process waits for the answers to all questions.
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(("area", "question"), QUESTIONS)
def test_contrib_answers_as_the_original(
    ours: Callable[[str], dict[str, Any]], area: str, question: str
) -> None:
    original, actual = dict(RECORDED[area][question]), dict(ours(area)[question])
    reason = original.pop("differs", None)
    assert actual.pop("differs", None) == reason  # Otherwise record the answers again.
    key = f"{area} {question}"
    if reason is not None:
        assert differences(original, actual, key), f"The same now: {reason}"
        original = OURS["answers"][key]
    found = differences(original, actual, key)
    assert not found, "\n".join(found[:10])


@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    "area", [pytest.param(a, marks=[pytest.mark.long] if a in LONG else []) for a in AREAS]
)
def test_every_question_is_recorded(ours: Callable[[str], dict[str, Any]], area: str) -> None:
    assert set(ours(area)) == set(RECORDED[area])
