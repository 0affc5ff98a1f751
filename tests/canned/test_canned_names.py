"""Names of the tensors that programs fetch from canned estimators, against the original."""

from __future__ import annotations

import ask_names
import pytest
import tf_keras
import tiers
from jobs import Api
from outcomes import outcome, recorded

import estimator_train as est
from estimator_train.compat import v1

GOLDEN = recorded("canned_names")
QUESTIONS = ask_names.questions(
    {name: Api(name, of, tf_keras, None) for name, of in (("v2", est), ("v1", v1))}
)
NAMES = sorted(GOLDEN)
QUICK = {
    "v1 linear estimator, infer",
    "v1 sdca classifier, train",
    "v1 combined with old columns, train",
    "v2 sdca regressor, train",
    *NAMES[::80],
}
# Names of these operations follow from how the original computes, not from its scopes.
OTHERS = {"k-means": {"cluster_index", "loss"}, "rnn": {"logits", "predictions"}}
# TensorFlow's linear_model numbers its second scope.
OLD_COLUMNS = {"logits", "predictions", "operation"}


def test_every_recorded_question_is_asked() -> None:
    assert sorted(QUESTIONS) == NAMES


@pytest.mark.parametrize("name", tiers.first(QUICK, NAMES, of=3))
def test_tensors_have_the_recorded_names(name: str) -> None:
    answer = outcome(QUESTIONS[name])
    assert "error" not in answer, answer["text"]
    others = OTHERS.get(name.split()[1], set())
    if "old columns" in name:
        others = OLD_COLUMNS
    ours, theirs = (
        {key: tensor for key, tensor in names.items() if key.split()[0] not in others}
        for names in (answer["value"], GOLDEN[name]["value"])
    )
    assert ours == theirs
