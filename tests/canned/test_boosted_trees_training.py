"""Boosted trees: the end and the continuation of training, exports, and bad input.

These tests cover `canned/boosted_trees/example_cache.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import boosted_trees
import numpy as np
import pytest
import tensorflow as tf
import tiers
from outcomes import logged

import estimator_train as est
from estimator_train.canned.boosted_trees.ensemble import Settings

fc = tf.feature_column
TREES = ("feature", "threshold", "value", "gain")


def made(model_dir: Path, kind: str = "BoostedTreesClassifier", **settings: Any) -> Any:
    config = est.RunConfig(
        save_summary_steps=None,
        save_checkpoints_steps=settings.pop("save_checkpoints_steps", 1000),
        steps_per_loop=settings.pop("steps_per_loop", 1),
        save_input_position=True,
    )
    settings = {"n_batches_per_layer": 1, "n_trees": 2, "max_depth": 2, **settings}
    columns = settings.pop("columns", boosted_trees.columns("events"))
    return getattr(est, kind)(columns, model_dir=str(model_dir), config=config, **settings)


def trees(estimator: Any) -> list[np.ndarray]:
    return [estimator.get_variable_value(f"boosted_trees/{name}") for name in TREES]


def assert_same_trees(one: Any, other: Any) -> None:
    for mine, theirs in zip(trees(one), trees(other), strict=True):
        np.testing.assert_array_equal(mine, theirs)


EVENTS = boosted_trees.input_fn("events", "signal")
HALVES = boosted_trees.input_fn("events", "signal", 2)


class Stop(est.SessionRunHook):
    """Ends a process's work in the middle of a layer: nothing is saved after it."""

    def __init__(self, after: int) -> None:
        self._left = after

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._left -= 1
        if not self._left:
            raise KeyboardInterrupt


@pytest.mark.long
@pytest.mark.parametrize("label", tiers.first({"signal"}, ["signal", "kind"]))
def test_a_killed_training_continues_to_the_same_trees(label: str, tmp_path: Path) -> None:
    settings = {"n_batches_per_layer": 2, "n_classes": 2 if label == "signal" else 3}
    halves = boosted_trees.input_fn("events", label, 2)
    unbroken = made(tmp_path / "unbroken", **settings).train(halves)
    broken = made(tmp_path / "broken", save_checkpoints_steps=3, **settings)
    with pytest.raises(KeyboardInterrupt):
        broken.train(halves, hooks=[Stop(5)])
    # In the middle of a layer.
    assert broken.get_variable_value("global_step") == 3
    broken.train(halves)
    assert broken.get_variable_value("global_step") == 8
    assert_same_trees(unbroken, broken)


@pytest.mark.long
def test_steps_in_a_loop_grow_the_same_trees_and_stop_training_at_the_same_step(
    tmp_path: Path,
) -> None:
    one = made(tmp_path / "one", n_batches_per_layer=2).train(HALVES)
    with logged() as lines:
        many = made(tmp_path / "many", n_batches_per_layer=2, steps_per_loop=7).train(HALVES)
    assert not [line for line in lines if line.startswith("WARNING")]
    assert many.get_variable_value("global_step") == 8
    assert_same_trees(one, many)


@pytest.mark.long
def test_training_in_memory_grows_the_same_trees(tmp_path: Path) -> None:
    one = made(tmp_path / "one").train(EVENTS)
    with pytest.raises(KeyboardInterrupt):
        made(tmp_path / "many", train_in_memory=True, save_checkpoints_steps=1).train(
            EVENTS, hooks=[Stop(3)]
        )
    memory = made(tmp_path / "many", train_in_memory=True).train(EVENTS)
    assert_same_trees(one, memory)
    assert not [name for name in memory.get_variable_names() if "memory" in name]


@pytest.mark.long
@pytest.mark.parametrize(
    ("source", "columns"),
    [
        ("halves", "events"),
        ("halves", "numeric"),
        ("sizes", "events"),
        ("orders", "events"),
        ("one", "events"),
    ],
)
def test_several_batches_in_memory_grow_the_trees_of_their_own_examples(
    source: str, columns: str, tmp_path: Path
) -> None:
    # TensorFlow 1.15 pairs the buckets of the first batch with the labels of the others.
    features, labels = boosted_trees.events_of_collisions()
    rows = features, labels["signal"]
    data = tf.data.Dataset.from_tensor_slices
    inputs = {
        "halves": lambda: data(rows).batch(len(rows[1]) // 2).repeat(),
        "sizes": lambda: data(rows).batch(len(rows[1]) * 2 // 3).repeat(),
        "orders": lambda: data(rows).shuffle(len(rows[1]), seed=3).batch(len(rows[1])).repeat(),
        "one": lambda: data(rows).batch(len(rows[1])).repeat(),
    }
    settings = (
        {}
        if columns == "events"
        else {"columns": [fc.numeric_column("x0"), fc.numeric_column("x1")]}
    )
    anew = made(tmp_path / "anew", **settings).train(inputs[source])
    with logged() as lines:
        kept = made(tmp_path / "kept", train_in_memory=True, steps_per_loop=3, **settings).train(
            inputs[source]
        )
    assert_same_trees(anew, kept)
    warnings = [line for line in lines if "one batch with all examples" in line]
    assert len(warnings) == (source != "one")


@pytest.mark.long
def test_a_finished_model_changes_only_if_more_trees_are_requested(
    tmp_path: Path,
) -> None:
    finished = made(tmp_path / "grown").train(EVENTS)
    before = trees(finished)
    finished.train(EVENTS, steps=3)
    assert finished.get_variable_value("global_step") == 4
    for old, new in zip(before, trees(finished), strict=True):
        np.testing.assert_array_equal(old, new)
    more = made(tmp_path / "grown", n_trees=3, train_in_memory=True).train(EVENTS)
    assert more.get_variable_value("global_step") == 6
    at_once = made(tmp_path / "at_once", n_trees=3).train(EVENTS)
    assert_same_trees(more, at_once)
    # A model of fewer trees still predicts by all that there are.
    rows = [next(m.predict(EVENTS))["logits"] for m in (finished, more)]
    assert rows[0] == pytest.approx(rows[1])


def test_training_ends_if_no_layer_can_grow(tmp_path: Path) -> None:
    estimator = made(tmp_path, min_node_weight=100.0).train(EVENTS)
    # Twice as many layers as there should be, and one more, as tf.estimator.
    assert estimator.get_variable_value("global_step") == 9


@pytest.mark.long
@pytest.mark.parametrize("kind", tiers.first({"signal"}, ["signal", "kind"]))
def test_an_exported_model_predicts_what_the_estimator_predicts(kind: str, tmp_path: Path) -> None:
    settings = {"n_classes": 3} if kind == "kind" else {}
    once = boosted_trees.input_fn("events", kind, repeat=1)
    estimator = made(tmp_path / "model", **settings)
    estimator.train(boosted_trees.input_fn("events", kind))
    features, _ = boosted_trees.events_of_collisions()
    receiver = est.export.build_raw_serving_input_receiver_fn(
        {name: tf.TensorSpec([None], tf.float32) for name in features}
    )
    exported = estimator.export_saved_model(str(tmp_path / "export"), receiver)
    serve = tf.saved_model.load(exported.decode()).signatures["predict"]
    served = serve(**{name: tf.constant(value) for name, value in features.items()})
    predicted = np.array([row["logits"] for row in estimator.predict(once)])
    np.testing.assert_allclose(served["logits"], predicted, atol=1e-6)
    assert len(predicted) == 300
    # The logits are those of the leaves that the rules of the trees lead to.
    np.testing.assert_allclose(predicted, by_hand(estimator, features), atol=1e-6)


def by_hand(estimator: Any, features: boosted_trees.Rows) -> np.ndarray:
    """Returns the logits of events, by going down the trees one by one."""
    cuts = [-1.2, -0.7, -0.3, 0.0, 0.3, 0.7, 1.2]
    buckets = np.stack([np.searchsorted(cuts, features[f"x{n}"], "right") for n in range(6)], 1)
    feature, threshold, value, _ = trees(estimator)
    logits = np.zeros((len(buckets), value.shape[2]))
    for row, tree in np.ndindex(len(buckets), len(feature)):
        node = 0
        while node < feature.shape[1] and feature[tree, node] >= 0:
            right = buckets[row, feature[tree, node]] > threshold[tree, node]
            node = 2 * node + 1 + right
        logits[row] += value[tree, node]
    return logits


@pytest.mark.long
def test_quantiles_of_the_first_batches_divide_numbers_into_buckets(tmp_path: Path) -> None:
    columns = [fc.numeric_column("x0"), fc.numeric_column("x1")]
    estimator = made(
        tmp_path, columns=columns, n_batches_per_layer=2, quantile_sketch_epsilon=0.125
    )
    estimator.train(HALVES)
    # Batches that decide the boundaries are no steps.
    assert estimator.get_variable_value("global_step") == 8
    found = estimator.get_variable_value("boosted_trees/quantiles/bucket_boundaries")
    features, _ = boosted_trees.events_of_collisions()
    for name, boundaries in zip(("x0", "x1"), found, strict=True):
        values = np.sort(features[name])
        # The smallest, the greatest, and the others at eighths, to a batch's resolution.
        assert [boundaries[0], boundaries[-1]] == [values[0], values[-1]]
        shares = np.searchsorted(values, boundaries[1:-1]) / len(values)
        assert shares == pytest.approx(np.arange(1, 7) / 8, abs=0.02)
    assert estimator.evaluate(boosted_trees.input_fn("events", "signal", repeat=1))["auc"] > 0.7


@pytest.mark.long
def test_contributions_and_bias_add_up_to_the_prediction(tmp_path: Path) -> None:
    once = boosted_trees.input_fn("people", "survived", repeat=1)
    columns = [boosted_trees.sex(), *boosted_trees.columns("people")[:2]]
    estimator = made(tmp_path, columns=columns, center_bias=True)
    estimator.train(boosted_trees.input_fn("people", "survived"))
    rows = list(estimator.experimental_predict_with_explanations(once, ["logistic"]))
    assert len(rows) == 200
    for row in rows:
        sizes = [abs(value) for value in row["dfc"].values()]
        assert sizes == sorted(sizes, reverse=True)
        total = row["bias"] + sum(row["dfc"].values())
        assert total == pytest.approx(row["logistic"][0], abs=1e-6)
    assert {"sex", "age_bucketized", "fare_bucketized"} == set(rows[0]["dfc"])


EMBEDDING = fc.embedding_column(boosted_trees.sex(), 2)
SEVERAL = fc.categorical_column_with_identity("several", 4)


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (EMBEDDING, "Boosted trees split on bucketized_column.*Given .*EmbeddingColumn"),
        (fc.weighted_categorical_column(boosted_trees.sex(), "weight"), "use indicator_column"),
        (fc.sequence_categorical_column_with_identity("s", 3), "Boosted trees split on"),
    ],
)
def test_columns_that_trees_cannot_use_are_named(column: Any, text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=text):
        made(tmp_path, columns=[column])


def test_several_values_of_a_categorical_column_raise_an_error(tmp_path: Path) -> None:
    def input_fn() -> Any:
        rows = {"several": np.array([[0, 1], [2, 3]])}, np.array([0, 1])
        return tf.data.Dataset.from_tensors(rows).repeat()

    with pytest.raises(tf.errors.InvalidArgumentError, match="wrap it with indicator_column"):
        made(tmp_path, columns=[SEVERAL]).train(input_fn)


def test_labels_out_of_range_raise_an_error(tmp_path: Path) -> None:
    features, labels = boosted_trees.events_of_collisions()

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensors((features, labels["signal"] * 2)).repeat()

    with pytest.raises(tf.errors.InvalidArgumentError, match="Labels must"):
        made(tmp_path).train(input_fn)


def test_a_missing_weight_raises_the_error_of_the_heads(tmp_path: Path) -> None:
    # tf.estimator of TensorFlow 2.8, the last with boosted trees, raises it too.
    with pytest.raises(ValueError, match="Feature w is not in features dictionary"):
        made(tmp_path, weight_column="w").train(EVENTS, steps=1)


def test_a_layer_without_batches_logs_a_warning() -> None:
    with logged() as lines:
        settings = Settings(0, 1, 1, 0.1, 0.0, 0.0, 0.0, 0.0, False, "none", 0.01)
    assert settings.batches == 1
    [line] = lines
    assert line.startswith("WARNING n_batches_per_layer is 0: each batch makes a layer, as with 1.")


def test_sizes_that_trees_cannot_use_raise_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"max_depth=40 takes [\d,]+ GiB of memory for 2 trees"):
        made(tmp_path, max_depth=40)
    with pytest.raises(TypeError, match="must be a whole number of batches. Given: 1.5"):
        made(tmp_path, n_batches_per_layer=1.5)
    with pytest.raises(ValueError, match="Expected quantile_sketch_epsilon > 0, received: 0"):
        made(tmp_path, quantile_sketch_epsilon=0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="l1 != 0 is not yet supported for"):
        made(tmp_path, n_classes=3, l1_regularization=0.1)
