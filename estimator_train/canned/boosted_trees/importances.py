"""Gain of each feature column over all trees."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from estimator_train.canned.boosted_trees.ensemble import SCOPE
from estimator_train.canned.boosted_trees.features import Features


def compute_feature_importances(
    read: Callable[[str], Any], features: Features, *, normalize: bool
) -> OrderedDict[str, float]:
    """Returns the gain of all splits of each column, the greatest first (Friedman 2001, 8.1).

    Args:
      read: Returns the value of a variable in a checkpoint by its name.
      features: The columns.
      normalize: Whether to divide by the sum.

    Raises:
      ValueError: There is no tree yet.
      AssertionError: There is nothing to normalize.
    """
    if not read(f"{SCOPE}/started"):
        raise ValueError(
            "Found empty serialized string for TreeEnsemble.You should only call this method after "
            "training."
        )
    feature, gain = read(f"{SCOPE}/feature"), read(f"{SCOPE}/gain")
    splits = feature >= 0
    columns = features.column_of[feature[splits]]
    gains = np.bincount(columns, gain[splits].astype(np.float64), len(features.names))
    if normalize:
        if not gains.sum():
            raise AssertionError("Trees are all empty or contain only a root node.")
        gains = gains / gains.sum()
    order = np.argsort(-gains, kind="stable")
    return OrderedDict((features.names[place], float(gains[place])) for place in order)
