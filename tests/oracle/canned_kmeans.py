"""K-means, as cases by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from canned_figures import Case
from jobs import Api

POINTS = np.array(
    [[0, 0], [0, 1], [1, 0], [10, 10], [10, 11], [11, 10], [20, 0], [20, 1]], np.float32
)


def columns() -> list[Any]:
    return [tf.feature_column.numeric_column("x", shape=2)]


def _case(batch: int, random: bool = False, **arguments: Any) -> Case:
    # A point at zero has no direction, and is as near to one center as to another.
    points = POINTS[1:] if "distance_metric" in arguments else POINTS

    def batches(times: int | None = None) -> Any:
        return tf.data.Dataset.from_tensor_slices({"x": points}).repeat(times).batch(batch)

    def build(api: Api, model_dir: str, config: Any) -> Any:
        return api.estimator.experimental.KMeans(
            3, model_dir, config=config, feature_columns=columns(), **arguments
        )

    return Case(build, batches, lambda: batches(1), columns, random=random)


def _some(inputs: list[tf.Tensor], missing: tf.Tensor) -> tf.Tensor:
    """Returns the last points of a batch, two at most."""
    [points] = inputs
    return points[-tf.minimum(missing, 2) :]


_PLUS_PLUS = {"initial_clusters": "kmeans_plus_plus"}
CASES = {
    "random, one by one": _case(1, initial_clusters="random"),
    "random, as many as clusters": _case(3, initial_clusters="random"),
    "plus plus": _case(8, **_PLUS_PLUS),
    "plus plus of a small batch": _case(5, **_PLUS_PLUS, seed=7),
    "plus plus with retries": _case(8, **_PLUS_PLUS, kmeans_plus_plus_num_retries=5),
    "plus plus, cosine": _case(7, **_PLUS_PLUS, distance_metric="cosine"),
    "function": _case(3, initial_clusters=_some),
    "function that returns an array": _case(3, initial_clusters=lambda *given: POINTS[[0, 3, 6]]),
    "all points": _case(8, initial_clusters=POINTS[:3], use_mini_batch=False),
    "mini batches": _case(3, initial_clusters=POINTS[[0, 3, 6]]),
    # The original does not wait for the distances of a step before it replaces the centers.
    "iterations of mini batches": _case(
        3, random=True, initial_clusters=POINTS[:3], mini_batch_steps_per_iteration=3
    ),
    "cosine of all points": _case(
        7, initial_clusters=POINTS[1:4], distance_metric="cosine", use_mini_batch=False
    ),
    "cosine": _case(7, initial_clusters=POINTS[1:4], distance_metric="cosine"),
}
