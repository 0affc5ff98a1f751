"""Odd values for the optimizers of canned estimators, to train and where none is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from breadth.odd import made, odd
from breadth.odd_values import OPTIMIZERS, x
from breadth.subjects_canned import batch, trained
from jobs import Api


def _by_optimizer(optimizer: Callable[[Api], Any]) -> Any:
    def ask(api: Api, directory: str) -> Any:
        estimator = made(
            api,
            directory,
            "DNNClassifier",
            feature_columns=[x()],
            hidden_units=[2],
            optimizer=optimizer(api),
        )
        return trained(estimator, "class")

    return ask


odd("DNNClassifier.optimizer", {k: _by_optimizer(v) for k, v in OPTIMIZERS.items()}, ("v2",))


def _untrained(optimizer: Callable[[Api], Any], verb: str) -> Any:
    def ask(api: Api, directory: str) -> Any:
        estimator = made(api, directory, "LinearClassifier", [x()], optimizer=optimizer(api))
        if verb == "predict":
            return sorted(next(iter(estimator.predict(lambda: batch()))))
        return sorted(estimator.evaluate(lambda: batch(), steps=1))

    return ask


odd(
    "LinearClassifier.untrained",
    {
        f"{verb} with {text}": _untrained(optimizer, verb)
        for verb in ("predict", "evaluate")
        for text, optimizer in {
            "None": OPTIMIZERS["None"],
            "a name": OPTIMIZERS["small letters"],
            "a number": lambda api: 3,
            "scaled": OPTIMIZERS["scaled"],
        }.items()
    },
    ("v2",),
)
