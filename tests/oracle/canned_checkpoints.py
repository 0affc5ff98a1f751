"""Canned models that one library begins and the other continues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import canned_cases
import canned_cases_v1
from canned_figures import FixedValues, losses
from jobs import Api
from outcomes import GOLDEN

STEPS = 5
CHECKPOINTS = GOLDEN / "checkpoints"
NAMES = (
    "linear classifier",
    "linear regressor",
    "dnn classifier",
    "dnn regressor",
    "combined classifier",
    "combined regressor",
)
CASES = {"v2": canned_cases.CASES, "v1": canned_cases_v1.CASES}
MODELS = [(api, name) for api in CASES for name in NAMES]


def home_of(api: str, name: str) -> str:
    """Returns the name of a model's directory."""
    return f"canned_{api}_{name.replace(' ', '_')}"


def begin(api: Api, name: str, model_dir: str) -> None:
    """Train from fixed values and leave nothing but the checkpoint."""
    _train(api, name, model_dir, [FixedValues()])
    for path in Path(model_dir).iterdir():
        kept = f"model.ckpt-{STEPS}"
        if not path.name.startswith((kept, "checkpoint")) or path.suffix == ".meta":
            path.unlink() if path.is_file() else None


def go_on(api: Api, name: str, model_dir: str) -> list[float]:
    """Returns the losses of further steps."""
    _train(api, name, model_dir, [])
    return losses(model_dir)


def _train(api: Api, name: str, model_dir: str, hooks: list[Any]) -> None:
    case = CASES[api.name][name]
    config = api.estimator.RunConfig(save_summary_steps=1)
    estimator = case.build(api, model_dir, config)
    estimator.train(case.train_input, hooks=hooks, steps=STEPS)
