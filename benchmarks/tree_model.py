"""Boosted trees on generated particle collisions: 28 numbers and a label for each event."""

from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import Any

from benchmarks.apis import APIS, Apis
from benchmarks.benchmark import OLDER_ORIGINAL, ORIGINAL, OURS

FEATURES, BUCKETS = 28, 32
MAX_DEPTH = 6


def make_events(count: int) -> tuple[dict[str, Any], Any]:
    """Returns features, float32 [count, 1] each, and labels 0 and 1, float32 [count, 1]."""
    import numpy as np

    random = np.random.RandomState(0)
    x = random.standard_normal([count, FEATURES]).astype(np.float32)
    score = x[:, 0] * x[:, 1] + np.sin(x[:, 2]) + 0.3 * random.standard_normal(count)
    features = {f"x{number:02}": x[:, number : number + 1] for number in range(FEATURES)}
    return features, (score > 0).astype(np.float32)[:, None]


def make_classifier(api: ModuleType, model_dir: str, n_trees: int) -> Any:
    """Returns a classifier of events that trains in memory."""
    import numpy as np
    import tensorflow as tf

    column = tf.feature_column
    cuts = np.linspace(-2, 2, BUCKETS - 1).tolist()
    return api.BoostedTreesClassifier(
        [
            column.bucketized_column(column.numeric_column(f"x{number:02}"), cuts)
            for number in range(FEATURES)
        ],
        n_batches_per_layer=1,
        n_trees=n_trees,
        max_depth=MAX_DEPTH,
        train_in_memory=True,
        config=api.RunConfig(model_dir, save_summary_steps=None),
    )


def compare_tree_apis(
    measure: Callable[[Apis, bool], float],
) -> Mapping[str, Callable[[bool], float]]:
    """Returns peers for our API and for the last tf.estimator with boosted trees.

    Args:
      measure: Function of (apis, quick).
    """
    return {OURS: partial(measure, APIS[OURS]), OLDER_ORIGINAL: partial(measure, APIS[ORIGINAL])}
