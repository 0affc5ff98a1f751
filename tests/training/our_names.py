"""estimator_train's public names as the recorded jobs take them."""

from __future__ import annotations

from typing import Any

import tf_keras
from jobs import Api

import estimator_train
import estimator_train.experimental
from estimator_train.training import exporters, extenders, specs, train_and_evaluate

_HOMES = (estimator_train, specs, exporters, extenders, train_and_evaluate)


class _Names:
    experimental = estimator_train.experimental

    def __getattr__(self, name: str) -> Any:
        for home in _HOMES:
            if hasattr(home, name):
                return getattr(home, name)
        raise AttributeError(name)


OURS = Api(
    "v2", _Names(), tf_keras, lambda *a, **k: estimator_train.keras.model_to_estimator(*a, **k)
)
