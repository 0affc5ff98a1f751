"""Generated questions: each argument in unusual but legal forms, and pairs of what the verbs meet.

A sample runs in the first tier. The second has one in 24 of each subject's questions, and of those
that were asked after `disable_v2_behavior`; `BREADTH=all` in the environment has it ask them all.
"""

from __future__ import annotations

import fnmatch
import functools
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tiers
from breadth import asking
from differences import DIFFERENT
from flavours import ours
from outcomes import recorded

GOLDEN = recorded("breadth")
WITHOUT_V2 = recorded("breadth_v1_behaviour")
TESTS = Path(__file__).parents[1]
SAMPLE = random.Random(22).sample(sorted(name for name in GOLDEN if asking.IN_BOTH.match(name)), 60)

NTH = 24
# One of each kind that was refused here, and worked there.
ONCE_REFUSED = (
    "v1 KMeans.initial_clusters: too few",
    "v1 KMeans: no count",
    "v1 TPUConfig: iterations_per_loop number in a string",
    "v1 TPUEstimatorSpec.eval_metrics: partial by name",
    "v1 linear_logit_fn_builder: units of NumPy",
    "v1 tpu.RunConfig: a dict",
    "v2 LinearClassifier.untrained: predict with scaled",
    "v2 export.all: None among them",
    "v2 keras.metrics: named as the loss",
    "v2 keras.optimizer: new, averages and decay",
    "v2 model_to_estimator: names: of no metric",
)


@functools.cache
def known() -> dict[str, Any]:
    return asking.all_questions(ours())


def unlisted(seen: dict[str, Any], golden: dict[str, Any]) -> dict[str, Any]:
    """The answers that differ and that no pattern of `differences` has a reason for.

    That a program which worked is refused has no reason.
    """
    found = {}
    for name, answer in seen.items():
        expected = asking.expected(name, golden, known())
        listed = any(fnmatch.fnmatchcase(name, pattern) for pattern in DIFFERENT)
        is_stricter = is_error(answer) and not is_error(expected)
        if not asking.alike(answer, expected) and (is_stricter or not listed):
            found[name] = (answer, expected)
    return found


def is_error(answer: Any) -> bool:
    return isinstance(answer, dict) and "error" in answer


def test_a_sample_is_answered_as_by_the_original() -> None:
    seen = {name: asking.answer(known()[name], ours()) for name in (*SAMPLE, *ONCE_REFUSED)}
    assert unlisted(seen, GOLDEN) == {}


def _subject(name: str) -> str:
    """What a question is about: the word after its flavour, or the family of a pair."""
    words = name.partition("(")[0].split(" ")
    return words[2] if words[1] == "of" else words[1].rstrip(":")


SUBJECTS = sorted(set(map(_subject, GOLDEN)))


@pytest.mark.long
@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_question_is_answered_as_by_the_original(subject: str) -> None:
    names = tiers.sampled(NTH, [name for name in GOLDEN if _subject(name) == subject])
    seen = {name: asking.answer(known()[name], ours()) for name in names}
    assert unlisted(seen, GOLDEN) == {}


@pytest.mark.long
def test_without_the_behaviour_of_tensorflow_2(tmp_path: Path) -> None:
    seen = _asked_elsewhere(tmp_path / "answers.json", ["--v1", *tiers.sampled(NTH, WITHOUT_V2)])
    assert unlisted(seen, WITHOUT_V2) == {}


@pytest.mark.long
@pytest.mark.parametrize("legacy", ["0", "1"])
def test_whichever_keras_tensorflow_has(tmp_path: Path, legacy: str) -> None:
    seen = _asked_elsewhere(tmp_path / "answers.json", SAMPLE, TF_USE_LEGACY_KERAS=legacy)
    assert unlisted(seen, GOLDEN) == {}


def _asked_elsewhere(out: Path, asked: list[str], **environment: str) -> dict[str, Any]:
    """Answers from a process of its own: its TensorFlow is set before it is used."""
    path = os.pathsep.join(str(TESTS / name) for name in ("oracle", "conformance"))
    subprocess.run(
        [sys.executable, "-m", "breadth.asking", "--ours", str(out), *asked],
        check=True,
        env={**os.environ, **environment, "PYTHONPATH": path},
        capture_output=True,
    )
    return json.loads(out.read_text(encoding="utf-8"))
