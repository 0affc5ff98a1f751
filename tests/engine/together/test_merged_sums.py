"""All-reduces of a step that become one: the same sums, and nothing that waits for itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf

from estimator_train.engine.together.strategies import merge_sums

v1 = tf.compat.v1
DEVICES = ("/cpu:0", "/cpu:1")
LARGE = 20_000
Build = Callable[[int], dict[str, tf.Tensor]]


def add_all(name: str, value: tf.Tensor, key: int, **changes: object) -> tf.Tensor:
    arguments = {"merge_op": "Add", "final_op": "Id", "group_key": 1, **changes}
    return tf.raw_ops.CollectiveReduceV2(
        input=value,
        group_size=len(DEVICES),
        instance_key=key,
        ordering_token=[],
        name=name,
        **arguments,
    )


def run_merged(build: Build) -> tuple[list[dict[str, np.ndarray]], list[str]]:
    """Returns the results on each device, and the all-reduces of the first one after merging."""
    definitions, wanted = [], []
    for number, device in enumerate(DEVICES):
        with tf.Graph().as_default() as graph, tf.device(device):
            wanted.append({name: tensor.name for name, tensor in build(number).items()})
            definition = graph.as_graph_def()
            merge_sums(definition, graph.get_operations())
            definitions.append(definition)
    with tf.Graph().as_default():
        results = [
            dict(zip(names, tf.import_graph_def(definition, {}, [*names.values()]), strict=True))
            for definition, names in zip(definitions, wanted, strict=True)
        ]
        config = v1.ConfigProto(device_count={"CPU": len(DEVICES)})
        with v1.Session(config=config) as session:
            found = session.run(results)
    reduced = [node.name for node in definitions[0].node if node.op == "CollectiveReduceV2"]
    return found, sorted(reduced)


def build_step(number: int) -> dict[str, tf.Tensor]:
    """Builds gradients, a loss, votes that wait for the loss, and a sum of another type."""
    values = np.random.RandomState(number).standard_normal(LARGE).astype(np.float32)
    parts = [tf.constant(values[:100]), tf.constant(values[100:])]
    gradients = add_all("gradients", tf.concat(parts, 0), 1)
    loss = add_all("loss", tf.constant([number + 0.5]), 2)
    with tf.control_dependencies([loss]):
        votes = add_all("votes", tf.constant([1.0, number]), 3)
    scaled = add_all("scaled", loss * 2, 4)
    exact = add_all("exact", tf.constant([number + 0.25], tf.float64), 5)
    count = add_all("count", tf.constant([number + 1.0, 3.0, 4.0]), 6)
    return {
        "gradients": gradients,
        "loss": loss,
        "votes": votes,
        "scaled": scaled,
        "exact": exact,
        "count": count,
    }


def test_sums_that_wait_for_no_other_are_one() -> None:
    results, reduced = run_merged(build_step)
    assert reduced == ["exact", "gradients/merged", "scaled", "votes"]
    gradients = [np.random.RandomState(n).standard_normal(LARGE).astype(np.float32) for n in (0, 1)]
    for found in results:
        np.testing.assert_array_equal(found["gradients"], gradients[0] + gradients[1])
        assert found["loss"] == [2.0]
        np.testing.assert_array_equal(found["votes"], [2, 1])
        assert found["scaled"] == [8.0]
        assert found["exact"] == [1.5]
        np.testing.assert_array_equal(found["count"], [3, 6, 8])


def build_packs(number: int) -> dict[str, tf.Tensor]:
    return {
        "first": add_all("first", tf.fill([LARGE], number + 1.0), 1),
        "last": add_all("last", tf.fill([LARGE], number + 2.0), 2),
        "loss": add_all("loss", tf.constant([number + 3.0]), 3),
    }


def test_packs_of_a_strategy_stay_apart() -> None:
    results, reduced = run_merged(build_packs)
    assert reduced == ["first", "last/merged"]
    for found in results:
        assert [found[name][-1] for name in ("first", "last", "loss")] == [3, 5, 7]


@pytest.mark.parametrize(
    "changes", [{"merge_op": "Max"}, {"group_key": 2}, {"communication_hint": "ring"}]
)
def test_sums_of_other_kinds_stay_apart(changes: dict[str, object]) -> None:
    def build(number: int) -> dict[str, tf.Tensor]:
        one = add_all("one", tf.constant([number + 1.0]), 1)
        return {"one": one, "other": add_all("other", tf.constant([number + 2.0]), 2, **changes)}

    results, reduced = run_merged(build)
    assert reduced == ["one", "other"]
    assert [found["other"][0] for found in results] == [3 if changes.get("merge_op") else 5] * 2


def test_a_sum_of_unknown_size_stays_apart() -> None:
    def build(number: int) -> dict[str, tf.Tensor]:
        rows = tf.range(tf.constant([3])[0])
        unknown = tf.cast(tf.boolean_mask(rows, rows >= 0), tf.float32)
        one = add_all("one", tf.constant([number + 1.0]), 1)
        return {"one": one, "unknown": add_all("unknown", unknown, 2)}

    results, reduced = run_merged(build)
    assert reduced == ["one", "unknown"]
    np.testing.assert_array_equal(results[0]["unknown"], [0, 2, 4])
