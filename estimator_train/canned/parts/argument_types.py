"""Types of the arguments of canned estimators."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias

import tensorflow as tf

from estimator_train.engine.checkpoints.warm_start import WarmStartSettings
from estimator_train.heads.types import Optimizer
from estimator_train.run_config import RunConfig


class FeatureColumn(Protocol):
    """Column of `tf.feature_column` or `tf.compat.v1.feature_column`."""

    name: str

    def __getattr__(self, name: str) -> Any:
        """Returns an attribute that depends on the kind of column."""


FeatureColumns: TypeAlias = FeatureColumn | Iterable[FeatureColumn]
OptimizerArgument: TypeAlias = str | Optimizer | Callable[[], Optimizer]
ActivationFn: TypeAlias = Callable[[tf.Tensor], tf.Tensor] | str
Partitioner: TypeAlias = Callable[..., Sequence[int]]
Config: TypeAlias = RunConfig | None
ModelDir: TypeAlias = str | os.PathLike[str] | None
WarmStart: TypeAlias = str | WarmStartSettings | None
