"""Generated questions: arguments in unusual but legal forms, and pairs of features.

The first tier asks a sample that the commit chooses, or TESTS_SAMPLE in the environment; the second
tier asks all questions of a third of the subjects, or of all with TESTS_SAMPLE=all.
"""

from __future__ import annotations

import fnmatch
import functools
import json
import os
import random
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import differences
import pytest
import record_differences
import tensorflow as tf
import unoptimized
from breadth import asking
from flavours import ours
from outcomes import recorded
from processes import run_process
from tiers import SAMPLE, of_commit

GOLDEN = recorded("breadth")
WITHOUT_V2 = recorded("breadth_v1_behaviour")
OURS = differences.our_answers()
TESTS = Path(__file__).parents[1]
SEED = os.environ[SAMPLE]
QUICK = sorted(name for name in GOLDEN if asking.IN_BOTH.match(name))
# One of each kind that an earlier version refused.
ONCE_REFUSED = (
    "v1 Estimator(model_dir) numpy str",
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


def unexpected(seen: dict[str, Any], golden: str) -> dict[str, Any]:
    """Returns our answers that are neither the original's nor a recorded difference."""
    found = {}
    for name, answer in seen.items():
        expected = asking.expected(name, recorded_answers(golden), known())
        expected = OURS[golden].get(name, expected)
        if expected == differences.VARIES and not is_error(answer):
            continue
        if not asking.alike(answer, expected):
            found[name] = (answer, expected)
    return found


def recorded_answers(golden: str) -> dict[str, Any]:
    return GOLDEN if golden == "breadth" else WITHOUT_V2


def is_error(answer: Any) -> bool:
    return isinstance(answer, dict) and "error" in answer


def unexpected_of(names: Iterable[str]) -> dict[str, Any]:
    """Returns our unexpected answers to questions, with TensorFlow's optimizer as users have it.

    Without the optimizer, batch normalization of four rows rounds so that it shows.
    """
    found = unexpected(ask(names), "breadth")
    unoptimized.uninstall()
    try:
        return unexpected(ask(found), "breadth")
    finally:
        unoptimized.install()


def ask(names: Iterable[str]) -> dict[str, Any]:
    return {name: asking.answer(known()[name], ours()) for name in names}


def test_a_sample_of_questions_has_the_recorded_answers() -> None:
    print(f"TESTS_SAMPLE={SEED}")
    sample = random.Random(SEED).sample(QUICK, 20)
    assert unexpected_of([*sample, *ONCE_REFUSED]) == {}


def test_a_subclass_of_a_type_leaves_the_type_of_tensorflow_as_it_is() -> None:
    ask(name for name in QUICK if name.endswith("(label_dtype) subclass"))
    assert type(tf.int64) is type(tf.float32) is tf.DType


@pytest.mark.parametrize("golden", differences.GOLDENS)
def test_each_listed_difference_still_differs_and_is_no_new_error(golden: str) -> None:
    for name, answer in OURS[golden].items():
        original = asking.expected(name, recorded_answers(golden), known())
        assert not asking.alike(answer, original), name
        assert is_error(original) or not is_error(answer), name


def test_each_listed_difference_has_a_kind_and_each_pattern_matches() -> None:
    names = {name for answers in OURS.values() for name in answers}
    assert [name for name in sorted(names) if differences.find(name) is None] == []
    patterns = [pattern for kind in differences.DIFFERENCES for pattern in kind.patterns]
    assert [one for one in patterns if not fnmatch.filter(names, one)] == []


def test_the_table_of_differences_is_up_to_date() -> None:
    assert record_differences.read_table() == differences.make_table(OURS)


def _subject(name: str) -> str:
    """Returns the subject of a question: the word after its flavour, or the family of a pair."""
    words = name.partition("(")[0].split(" ")
    subject = words[2] if words[1] == "of" else words[1].rstrip(":")
    return subject.partition(".")[0]


SUBJECTS = sorted(set(map(_subject, GOLDEN)))


@pytest.mark.long
@pytest.mark.parametrize("subject", of_commit(3, SUBJECTS))
def test_every_question_has_the_recorded_answer(subject: str) -> None:
    assert unexpected_of(name for name in GOLDEN if _subject(name) == subject) == {}


@pytest.mark.long
def test_figures_under_tensorflow_1_behaviour(tmp_path: Path) -> None:
    seen = _ask_in_new_process(tmp_path / "answers.json", ["--v1", *WITHOUT_V2])
    assert unexpected(seen, "breadth_v1_behaviour") == {}


@pytest.mark.long
@pytest.mark.parametrize("legacy", ["0", "1"])
def test_figures_with_either_keras(tmp_path: Path, legacy: str) -> None:
    seen = _ask_in_new_process(tmp_path / "answers.json", QUICK, TF_USE_LEGACY_KERAS=legacy)
    assert unexpected(seen, "breadth") == {}


def _ask_in_new_process(out: Path, names: list[str], **environment: str) -> dict[str, Any]:
    """Asks in a process in which settings of TensorFlow hold from its import on."""
    path = os.pathsep.join(str(TESTS / name) for name in ("oracle", "conformance"))
    run_process(
        [sys.executable, "-m", "breadth.asking", "--ours", str(out), *names],
        **environment,
        PYTHONPATH=path,
    )
    return dict(json.loads(out.read_text(encoding="utf-8")))
