"""Boosted trees, against figures of the original.

These tests cover `canned/boosted_trees/descent.py`, `canned/boosted_trees/ensemble.py`,
`canned/boosted_trees/estimators.py`, `canned/boosted_trees/model.py`,
`canned/boosted_trees/features.py`, `canned/boosted_trees/growing.py` and
`canned/boosted_trees/splits.py`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import boosted_trees
import forked
import numpy as np
import pytest
import tiers
from outcomes import recorded

import estimator_train as est
import estimator_train.compat.v1 as v1

# Rounding decides between splits whose gain does not exceed this.
NO_GAIN = 1e-6


def read_trees(estimator: Any) -> list[dict[str, Any]]:
    """Returns the trees that have grown and the one that grows: place to split or leaf."""
    feature, threshold, gain, value = (
        estimator.get_variable_value(f"boosted_trees/{name}")
        for name in ("feature", "threshold", "gain", "value")
    )
    # The variables have rows for trees that have not started yet, too.
    finished = int(estimator.get_variable_value("boosted_trees/finished_trees"))
    trees = []
    for tree in range(min(finished + 1, len(feature))):
        found: dict[str, Any] = {}
        places = [0]
        while places:
            place = places.pop()
            if place < feature.shape[1] and feature[tree, place] >= 0:
                found[str(place)] = {
                    "feature": int(feature[tree, place]),
                    "threshold": int(threshold[tree, place]),
                    "gain": float(gain[tree, place]),
                }
                places += [2 * place + 1, 2 * place + 2]
            else:
                found[str(place)] = {"value": value[tree, place].tolist()}
        trees.append(found)
    return trees


def assert_same_tree(ours: Any, theirs: Any, place: int = 0, *, centered: bool = False) -> None:
    """Compares splits and leaves; with `centered`, up to what a softmax does not see."""
    mine, original = ours[str(place)], theirs[str(place)]
    if "value" in original:
        found, wanted = np.array(mine["value"]), np.array(original["value"])
        if centered:
            found, wanted = found - found.mean(), wanted - wanted.mean()
        assert found == pytest.approx(wanted, abs=1e-5), place
        return
    assert mine["gain"] == pytest.approx(original["gain"], abs=1e-5, rel=1e-5), place
    if original["gain"] > NO_GAIN:
        assert mine["feature"] == original["feature"], place
        assert mine["threshold"] == original["threshold"], place
        assert_same_tree(ours, theirs, 2 * place + 1, centered=centered)
        assert_same_tree(ours, theirs, 2 * place + 2, centered=centered)


def assert_same_trees(ours: Any, theirs: Any, *, centered: bool = False) -> None:
    """Compares all trees of two models."""
    if len(theirs) == len(ours) + 1:
        # The original starts the next tree when it has completed one.
        started = theirs.pop()
        assert list(started) == ["0"]
        assert not any(started["0"]["value"])
    for mine, original in zip(ours, theirs, strict=True):
        assert_same_tree(mine, original, centered=centered)


def assert_near(ours: Any, theirs: Any, where: str = "") -> None:
    """Compares figures within lists and dicts."""
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs) or set(ours) == set(theirs), where
        for key, value in theirs.items():
            assert_near(ours[key], value, f"{where} {key}")
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs), where
        for mine, original in zip(ours, theirs, strict=True):
            assert_near(mine, original, where)
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, abs=1e-5, rel=1e-5), where
    else:
        assert ours == theirs, where


IN_MEMORY = [
    ("signal", "BoostedTreesClassifier", "in memory classifier"),
    ("number", "BoostedTreesRegressor", "in memory regressor"),
]


@pytest.mark.parametrize("name", tiers.every(28, boosted_trees.CASES))
def test_trees_and_figures_equal_the_recorded_ones(name: str) -> None:
    theirs = recorded("boosted_trees")[name]
    ours = boosted_trees.observe(est, name, read_trees)
    singular = name == "events three classes"
    actual, expected = ours.pop("trees"), theirs.pop("trees")
    assert_same_trees(actual, expected, centered=singular)
    if singular:
        # Logits of a softmax are free by a number; which one is an accident of rounding there.
        for row in (*ours["predictions"], *theirs["predictions"]):
            del row["logits"]
    if name == "people categorical":
        # The original cannot explain these splits.
        assert [column for column, _ in ours.pop("importances")["value"]] == ["sex", "class"]
        del theirs["importances"], theirs["normalized"], ours["normalized"]
    if name == "sum head":
        theirs.pop("explanations"), ours.pop("explanations")
    assert_near(ours, theirs)


@pytest.mark.long
@pytest.mark.parametrize("name", tiers.every(4, boosted_trees.LONG))
def test_losses_of_fifty_trees_equal_the_recorded_ones(name: str) -> None:
    theirs = recorded("boosted_trees_settings")[f"losses {name}"]
    assert boosted_trees.losses(est, name) == pytest.approx(theirs, abs=1e-4)


@pytest.mark.parametrize("name", boosted_trees.BAD)
def test_wrong_settings_have_the_recorded_outcome(name: str) -> None:
    theirs = recorded("boosted_trees_settings")[f"bad {name}"]
    assert boosted_trees.bad(est, boosted_trees.BAD[name]) == theirs


@pytest.mark.long
def test_signatures_equal_the_recorded_ones() -> None:
    assert boosted_trees.signatures(est) == recorded("boosted_trees_settings")["signatures"]


@pytest.mark.long
@pytest.mark.parametrize(("label", "kind", "name"), tiers.every(2, IN_MEMORY))
def test_losses_in_memory_equal_the_recorded_ones(
    label: str, kind: str, name: str, tmp_path: Path
) -> None:
    ours = boosted_trees.in_memory(est, label, kind, str(tmp_path))
    assert ours == pytest.approx(recorded("boosted_trees_settings")[name], abs=1e-5)


def test_v1_and_v2_have_the_same_classes() -> None:
    for name in ("BoostedTreesClassifier", "BoostedTreesEstimator", "BoostedTreesRegressor"):
        assert getattr(v1, name) is getattr(est, name)


@pytest.mark.long
def test_trees_equal_the_recorded_ones_with_a_global_step_of_tensorflow_1() -> None:
    program = """
import json, boosted_trees, estimator_train, tensorflow as tf, test_boosted_trees
tf.compat.v1.disable_v2_behavior()
print(json.dumps(boosted_trees.observe(
    estimator_train, "people center_bias", test_boosted_trees.read_trees)["trees"]))
"""
    places = [Path(module.__file__).parent for module in (boosted_trees, forked)]
    places.append(Path(__file__).parent)
    ours = forked.printed("-c", program, PYTHONPATH=os.pathsep.join(map(str, places)))
    theirs = recorded("boosted_trees")["people center_bias"]["trees"]
    assert_same_trees(ours, theirs)


@pytest.mark.parametrize("question", tiers.every(81, boosted_trees.COLLECTIONS, of=3))
def test_collections_have_the_recorded_number_of_entries(question: str) -> None:
    ours = boosted_trees.collections(est, *question.rsplit(", ", 1))
    theirs = dict(recorded("boosted_trees_collections")[question])
    # The original keeps trees and quantiles in resources, this package in variables.
    theirs.pop("resources")
    theirs.pop("saveable_objects")
    assert ours.pop("variables") > theirs.pop("variables", 0)
    # The metric accuracy_baseline of BinaryClassHead has its own total and count here.
    for name in {"local_variables", "metric_variables"} & theirs.keys():
        assert ours.pop(name) - theirs.pop(name) in (0, 2)
    assert ours == theirs
