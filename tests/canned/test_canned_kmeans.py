"""K-means, against the means of Lloyd's steps; test_canned_figures.py has recorded figures.

These tests cover `canned/kmeans.py` and `canned/kmeans_steps.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from estimator_train.compat import v1

KMeans = v1.experimental.KMeans
POINTS = np.array(
    [[0, 0], [0, 1], [1, 0], [10, 10], [10, 11], [11, 10], [20, 0], [20, 1]], np.float32
)
MEANS = np.array([[1 / 3, 1 / 3], [31 / 3, 31 / 3], [20, 0.5]])


def distances(centers: Any) -> np.ndarray:
    """Squared, of each point from each center."""
    return ((POINTS[:, None] - centers) ** 2).sum(2)


def step_of_lloyd(centers: Any) -> np.ndarray:
    """Returns the means of the points that are nearest to each center."""
    nearest = distances(centers).argmin(1)
    return np.array([POINTS[nearest == one].mean(0) for one in range(len(centers))])


def all_points(times: int | None = None) -> Callable[[], Any]:
    return lambda: tf.data.Dataset.from_tensors(POINTS).repeat(times)


def test_centers_become_means_and_training_stops_by_itself(tmp_path: Path) -> None:
    kmeans = KMeans(
        3,
        str(tmp_path),
        initial_clusters=POINTS[:3],
        use_mini_batch=False,
        relative_tolerance=0.1,
    )
    kmeans.train(all_points(), steps=50)
    np.testing.assert_allclose(kmeans.cluster_centers(), MEANS, rtol=1e-5)
    assert kmeans.get_variable_value("global_step") == 4
    assert kmeans.score(all_points(1)) == pytest.approx(distances(MEANS).min(1).sum(), rel=1e-5)
    assert list(kmeans.predict_cluster_index(all_points(1))) == [0, 0, 0, 1, 1, 1, 2, 2]
    first = next(iter(kmeans.transform(all_points(1))))
    np.testing.assert_allclose(first, np.sqrt(distances(MEANS)[0]), rtol=1e-5)
    assert sorted(kmeans.get_variable_names()) == ["clusters", "global_step", "initialized"]


def test_one_step_on_all_points_is_a_step_of_lloyds_algorithm() -> None:
    kmeans = KMeans(3, initial_clusters=POINTS[:3], use_mini_batch=False)
    kmeans.train(all_points(), steps=1)
    expected = step_of_lloyd(POINTS[:3])
    np.testing.assert_allclose(kmeans.cluster_centers(), expected, rtol=1e-5)


def test_mini_batches_move_centers_by_the_share_of_their_points(tmp_path: Path) -> None:
    def kmeans() -> Any:
        return KMeans(3, str(tmp_path), initial_clusters=POINTS[[0, 3, 6]])

    kmeans().train(all_points(), steps=1)
    kmeans().train(all_points(), steps=1)  # continues without new first centers
    found = kmeans()
    np.testing.assert_allclose(found.cluster_centers()[:2], [[0.2] * 2, [10.2] * 2], rtol=1e-5)
    assert found.get_variable_value("Variable").tolist() == [7, 7, 5]


@pytest.mark.long
@pytest.mark.parametrize(("first", "steps"), [(POINTS[:3], [2, 4, 6, 8]), ("random", [1, 3, 5, 7])])
def test_the_end_of_the_input_counts_as_a_step_like_in_the_original(
    first: Any, steps: list[int]
) -> None:
    def once() -> tf.Tensor:
        return tf.compat.v1.train.limit_epochs(tf.convert_to_tensor(POINTS), 1)

    kmeans = KMeans(3, initial_clusters=first, use_mini_batch=False, seed=2)
    counted, scores = [], []
    for _ in range(4):
        kmeans.train(once)
        counted.append(int(kmeans.get_variable_value("global_step")))
        scores.append(kmeans.score(once))
        if len(scores) == 1 and isinstance(first, str):  # All of the input went to the choice.
            assert all(center.tolist() in POINTS.tolist() for center in kmeans.cluster_centers())
    assert counted == steps
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] < scores[0]


def test_several_batches_can_make_one_iteration() -> None:
    kmeans = KMeans(3, initial_clusters=POINTS[:3], mini_batch_steps_per_iteration=2)
    kmeans.train(all_points(), steps=5)
    expected = [[0.22222222, 0.22222222], [8.3703703, 8.6296296], [16.333334, 0.94444444]]
    np.testing.assert_allclose(kmeans.cluster_centers(), expected, rtol=1e-5)
    assert kmeans.get_variable_value("update_in_steps") == 1


@pytest.mark.parametrize(
    ("repeats", "heights"),
    [
        (1, [[0, 1], [0.075, 5.25], [0.1125, 7.375], [0.13125, 8.4375]]),
        (2, [[0, 1], [0.1, 20 / 3], [0.4 / 3, 77 / 9]]),
    ],
    ids=["the input ends", "steps"],
)
def test_an_iteration_of_several_batches_ends_in_the_next_training(
    repeats: int, heights: list[list[float]]
) -> None:
    points = np.array([[1, 0.1], [1, 0.2], [0.1, 9], [0.3, 10]], np.float32)
    kmeans = KMeans(2, initial_clusters=np.eye(2), mini_batch_steps_per_iteration=2)
    for expected in heights:  # The numbers are those of tf.estimator 2.15.
        kmeans.train(
            lambda: tf.data.Dataset.from_tensors(points).repeat(repeats),
            steps=None if repeats == 1 else repeats,
        )
        np.testing.assert_allclose(kmeans.cluster_centers()[:, 1], expected, rtol=1e-5)
        assert kmeans.get_variable_value("update_in_steps") == 0


def test_far_points_are_chosen_by_kmeans_plus_plus() -> None:
    kmeans = KMeans(3, initial_clusters="kmeans_plus_plus", seed=1, use_mini_batch=False)
    kmeans.train(all_points(), steps=5)
    assert kmeans.score(all_points(1)) == pytest.approx(distances(MEANS).min(1).sum(), rel=1e-5)


def test_cosine_distances_compare_directions() -> None:
    kmeans = KMeans(2, initial_clusters=POINTS[[1, 6]], distance_metric="cosine")
    points = POINTS[[1, 2, 6, 7]] * 5
    kmeans.train(lambda: tf.data.Dataset.from_tensors(points).repeat(), steps=3)
    rows = list(kmeans.predict(lambda: tf.data.Dataset.from_tensors(points)))
    assert [row["cluster_index"] for row in rows] == [0, 1, 1, 1]
    assert rows[0]["all_distances"][1] == pytest.approx(1.0, abs=0.05)


def test_feature_columns_convert_features_to_points() -> None:
    columns = [tf.feature_column.numeric_column("x", shape=2)]
    kmeans = KMeans(3, initial_clusters=POINTS[:3], use_mini_batch=False, feature_columns=columns)
    kmeans.train(lambda: all_points()().map(lambda x: {"x": x, "other": x}), steps=5)
    np.testing.assert_allclose(kmeans.cluster_centers(), MEANS, rtol=1e-5)


def test_too_few_points_raise_an_error() -> None:
    with pytest.raises(ValueError, match="num_clusters is 9, but the input has only 8 points"):
        KMeans(9).train(all_points(1), steps=1)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"initial_clusters": "foo"}, "Unsupported initialization algorithm 'foo'"),
        ({"distance_metric": "foo"}, "Unsupported distance metric 'foo'"),
        ({"num_clusters": 0}, "num_clusters must be positive. Given: 0"),
    ],
)
def test_unknown_settings_raise_an_error(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        KMeans(**{"num_clusters": 2, **arguments})


def batches_of(count: int, size: int) -> Any:
    return tf.data.Dataset.from_tensor_slices(POINTS[:count]).batch(size)


def test_kmeans_plus_plus_needs_enough_points_in_one_batch() -> None:
    kmeans = KMeans(3, initial_clusters="kmeans_plus_plus")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x >= y did not hold"):
        kmeans.train(lambda: batches_of(8, 2), steps=1)


def test_an_input_with_fewer_points_than_clusters_is_refused() -> None:
    kmeans = KMeans(3, initial_clusters="random")
    with pytest.raises(ValueError, match="num_clusters is 3, but the input has only 2 points"):
        kmeans.train(lambda: batches_of(2, 1), steps=1)
