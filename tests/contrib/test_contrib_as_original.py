"""Our `tf.contrib`, as an old program sees it, compared with the answers of TensorFlow 1.15."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import forked
import numpy as np
import pytest
from legacy_programs import COMMAND, environment
from outcomes import GOLDEN
from processes import run_process
from tiers import of_commit

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
SLOW = (
    "batching clusters crf data decoding estimator estimator_exports export_strategies "
    "kernel_methods learn learn_checkpoints learn_estimators learn_heads learn_jobs "
    "learn_svm_logistic_rnn legacy_attention legacy_seq2seq metrics model_pruning_training "
    "monitors monotonic nas_and_independent_cells optimize_loss removed_distributions "
    "reversible rnn rnn_estimators saved_model_estimator seq2seq sign_optimizers slim_loops "
    "slim_nets slim_nets_run structural timeseries training unit_cells wals"
)
LONG = {*SLOW.split()}
SHORT = [area for area in AREAS if area not in LONG]
# The questions of a group share a process, in which TensorFlow is imported once.
GROUPS = [
    *(SHORT[number::5] for number in range(5)),
    *(pytest.param([area], marks=pytest.mark.long) for area in AREAS if area in LONG),
]


def ask(asked: Iterable[str], directory: Path) -> dict[str, dict[str, Any]]:
    """Returns our answers to the questions of each area, computed by an old program.

    Args:
      asked: Areas, each alone or as `area:question,...`, for some of its questions.
      directory: An empty directory.
    """
    run_process(
        forked.python(COMMAND, "run", "--tf1", ASKS / "every_area.py", directory, *asked),
        env=environment(TF_USE_LEGACY_KERAS=1),
    )
    return {path.stem: json.loads(path.read_text("utf-8")) for path in directory.glob("*.json")}


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


def unexpected(area: str, question: str, actual: dict[str, Any]) -> list[str]:
    """Returns how our answer differs from the original's, or from ours that differs on purpose."""
    original, actual = dict(RECORDED[area][question]), dict(actual)
    reason, our_reason = original.pop("differs", None), actual.pop("differs", None)
    if reason != our_reason:
        return [f"Record the answers again: they differ for {reason}, now for {our_reason}"]
    key = f"{area} {question}"
    if reason is not None:
        if not differences(original, actual, key):
            return [f"The same now: {reason}"]
        original = OURS["answers"][key]
    return differences(original, actual, key)[:10]


@pytest.mark.parametrize("areas", of_commit(2, GROUPS), ids=" ".join)
def test_contrib_answers_equal_the_recorded_ones(areas: list[str], tmp_path: Path) -> None:
    answers = ask(areas, tmp_path)
    assert {area: set(answers[area]) for area in areas} == {
        area: set(RECORDED[area]) for area in areas
    }
    found = {
        f"{area} {question}": unexpected(area, question, answer)
        for area in areas
        for question, answer in answers[area].items()
    }
    assert {key: texts for key, texts in found.items() if texts} == {}
