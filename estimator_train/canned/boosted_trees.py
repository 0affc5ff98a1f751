"""The boosted trees of the original, whose kernels are gone from TensorFlow: errors that say so."""

from __future__ import annotations

from typing import Any, NoReturn


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"{name} cannot run: TensorFlow no longer has the kernels of boosted trees. Use TensorFlow "
        "Decision Forests (package tensorflow_decision_forests, tfdf.keras."
        "GradientBoostedTreesModel), or a DNNLinearCombined estimator on the same feature columns."
    )


class _Gone:
    """Raises a NotImplementedError that names what to use, whatever it is constructed with."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        del arguments, settings
        _refuse(type(self).__name__)


class BoostedTreesClassifier(_Gone):
    """Gone with TensorFlow's kernels: constructing it raises a NotImplementedError."""


class BoostedTreesRegressor(_Gone):
    """Gone with TensorFlow's kernels: constructing it raises a NotImplementedError."""


class BoostedTreesEstimator(_Gone):
    """Gone with TensorFlow's kernels: constructing it raises a NotImplementedError."""
