"""Our `tf.contrib`, as an old program sees it, beside what TensorFlow 1.15 answered."""

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


# What ours answers where it differs: the texts of errors, None where they are TensorFlow's own and
# change with its version; and whole answers, where the question tells the reason.
OURS = json.loads(Path(__file__).with_name("contrib_ours.json").read_text(encoding="utf-8"))
# Those that take longest: networks that are built whole, and estimators that are trained.
LONG = {
    *("crf", "data", "decoding", "estimator", "learn", "learn_estimators", "metrics"),
    *("optimize_loss", "rnn", "seq2seq", "slim_nets", "slim_nets_run", "structural", "timeseries"),
    "training",
}
QUESTIONS = [
    pytest.param(area, question, marks=[pytest.mark.long] if area in LONG else [])
    for area in AREAS
    for question in RECORDED[area]
]


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """A function from an area to our answers, in a program that runs as it is."""

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
    """Everything in lists and dicts, each with where it is."""
    parts = value.items() if isinstance(value, dict) else None
    parts = enumerate(value) if isinstance(value, list) else parts
    if parts is None:
        yield path, value
    else:
        yield f"{path}: size", len(value)
        for key, one in parts:
            yield from leaves(one, f"{path}/{key}")


def differences(original: dict[str, Any], found: dict[str, Any], asked: str) -> list[str]:
    if "error" in original or "error" in found:
        theirs, ours = ((one.get("error"), one.get("text")) for one in (original, found))
        if asked in OURS["texts"]:
            theirs = theirs[0], OURS["texts"][asked]
        ours = ours[0], re.sub("0x[0-9a-f]+", "0x", ours[1] or "") if theirs[1] else theirs[1]
        return [] if theirs == ours else [f"{theirs}, ours {ours}: {found}"]
    left, right = dict(leaves(original)), dict(leaves(found))
    return [
        f"{path}: {left.get(path)}, ours {right.get(path)}"
        for path in sorted({*left, *right})
        if not _same(left.get(path), right.get(path))
    ]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return bool(np.isclose(one, other, rtol=1e-4, atol=1e-6, equal_nan=True))
    return type(one) is type(other) and one == other


# The first of a process waits for the answers to all questions.
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(("area", "question"), QUESTIONS)
def test_contrib_answers_as_the_original(
    ours: Callable[[str], dict[str, Any]], area: str, question: str
) -> None:
    original, found = dict(RECORDED[area][question]), dict(ours(area)[question])
    reason = original.pop("differs", None)
    assert found.pop("differs", None) == reason  # Recorded anew, if the question has changed.
    asked = f"{area} {question}"
    if reason is not None:
        assert differences(original, found, asked), f"The same now: {reason}"
        original = OURS["answers"][asked]
    differing = differences(original, found, asked)
    assert not differing, "\n".join(differing[:10])


@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    "area", [pytest.param(a, marks=[pytest.mark.long] if a in LONG else []) for a in AREAS]
)
def test_every_question_is_recorded(ours: Callable[[str], dict[str, Any]], area: str) -> None:
    assert set(ours(area)) == set(RECORDED[area])
