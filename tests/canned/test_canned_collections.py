"""Collections that canned estimators and heads fill, against the original."""

from __future__ import annotations

import ask_collections
import pytest
import tf_keras
import tiers
from jobs import Api
from outcomes import outcome, recorded

import estimator_train as est
from estimator_train.compat import v1

GOLDEN = recorded("canned_collections")
QUESTIONS = ask_collections.questions(
    {name: Api(name, of, tf_keras, None) for name, of in (("v2", est), ("v1", v1))}
)
NAMES = sorted(GOLDEN)
QUICK = {"v1 dnn with batch norm, train", "v1 sdca regressor, train", *NAMES[::60]}
# Equal columns of both parts of a model share a table here, and predictions that metrics do not
# need are not computed again, so that there are fewer tables.
TABLES = {"asset_filepaths", "table_initializer"}
# The metric accuracy_baseline of BinaryClassHead has its own total and count here.
VARIABLES_OF_METRICS = {"local_variables", "metric_variables"}
# The original computes each head of a MultiHead twice, in evaluation with two sets of metrics.
SEVERAL = {
    "head several, train": {"losses": 2},
    "head several, eval": {"losses": 6, "local_variables": 38, "metric_variables": 38},
}


@pytest.mark.parametrize("name", tiers.first(QUICK, NAMES, of=3))
def test_collections_have_the_recorded_number_of_entries(name: str) -> None:
    answer = outcome(QUESTIONS[name])
    assert "error" not in answer, answer["text"]
    ours, theirs = answer["value"], dict(GOLDEN[name]["value"])
    for collection in TABLES & set(theirs):
        assert 1 <= ours[collection] <= theirs[collection]
        ours[collection] = theirs[collection]
    theirs |= SEVERAL.get(name, {})
    for collection in VARIABLES_OF_METRICS & set(theirs):
        assert ours[collection] - theirs[collection] in (0, 2)
        ours[collection] = theirs[collection]
    assert ours == theirs
