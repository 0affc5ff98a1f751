"""Boosted trees as lookups: complete trees of an export, with shorter branches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from estimator_train.export.tree_graphs import (
    build_nodes,
    flatten_complete_trees,
    sum_trees,
)

TREES, DEPTH, FEATURES, LOGITS = 5, 3, 3, 2


def make_trees() -> dict[str, np.ndarray]:
    """Returns random complete trees: splits by value of feature 2, and nodes that are leaves."""
    random = np.random.default_rng(3)
    shape = [TREES, 2**DEPTH - 1]
    feature = random.integers(-1, FEATURES, shape)
    feature[0] = -1
    feature[1, 0] = 1  # The second tree has at least one split.
    return {
        "feature": feature.astype(np.int32),
        "threshold": random.integers(0, 4, shape).astype(np.float32),
        "by_value": feature == 2,
        "value": random.normal(size=[TREES, 2 ** (DEPTH + 1) - 1, LOGITS]).astype(np.float32),
    }


def descend(trees: dict[str, np.ndarray], row: np.ndarray) -> Any:
    """Returns the sum of the trees' leaves for one row."""
    total = np.zeros(LOGITS)
    for tree in range(TREES):
        node = 0
        while node < 2**DEPTH - 1 and (feature := trees["feature"][tree, node]) >= 0:
            threshold, given = trees["threshold"][tree, node], row[feature]
            right = given != threshold if trees["by_value"][tree, node] else given > threshold
            node = 2 * node + 1 + right
        total += trees["value"][tree, node]
    return total


# Each number occurs as a threshold, and some are between.
ROWS = np.array(np.meshgrid([0, 1, 1.5, 3, 4], [-1, 2, 3], [0, 2, 3]), np.float32).reshape(3, -1).T


def test_trees_sum_the_leaves_of_rows() -> None:
    trees = make_trees()
    nodes = flatten_complete_trees(**trees)
    assert nodes.depth == DEPTH
    assert len(nodes.feature) < trees["value"].shape[0] * trees["value"].shape[1]
    answers = sum_trees(nodes, tf.constant(ROWS)).numpy()
    np.testing.assert_allclose(answers, [descend(trees, row) for row in ROWS], rtol=1e-5)


@pytest.mark.parametrize("grown", [0, 2])
def test_trees_without_splits_are_their_roots(grown: int) -> None:
    trees = {name: value[:grown] for name, value in make_trees().items()}
    trees["feature"] = np.full_like(trees["feature"], -1)
    nodes = flatten_complete_trees(**trees)
    assert nodes.depth == 0
    answers = sum_trees(nodes, tf.constant(ROWS)).numpy()
    wanted = np.sum(trees["value"][:, 0], 0)
    np.testing.assert_allclose(answers, np.broadcast_to(wanted, [len(ROWS), LOGITS]), rtol=1e-6)


def test_nodes_take_the_place_of_a_node() -> None:
    nodes = build_nodes("sum", lambda given: [given[0] + given[1]], ["a", "b:1"], tf.float32)
    assert nodes[-1].name == "sum"
    assert {name for node in nodes for name in node.input} >= {"a", "b:1"}
    assert all(node.name == "sum" or node.name.startswith("sum/") for node in nodes)
