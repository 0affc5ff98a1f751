"""Wide-and-deep models that one library begins and the other continues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import canned_data
from canned_figures import losses
from jobs import Api

STEPS = 5


def estimator(api: Api, model_dir: str) -> Any:
    return api.estimator.DNNLinearCombinedClassifier(
        model_dir=model_dir,
        linear_feature_columns=canned_data.wide(),
        dnn_feature_columns=canned_data.simple(),
        dnn_hidden_units=[4],
        batch_norm=True,
        config=api.estimator.RunConfig(save_summary_steps=1),
    )


def begin(api: Api, model_dir: str) -> None:
    """Train and leave nothing but the checkpoint."""
    estimator(api, model_dir).train(canned_data.input_fn("label"), steps=STEPS)
    for path in Path(model_dir).iterdir():
        kept = f"model.ckpt-{STEPS}"
        if not path.name.startswith((kept, "checkpoint")) or path.suffix == ".meta":
            path.unlink() if path.is_file() else None


def go_on(api: Api, model_dir: str) -> list[float]:
    """The losses of further steps."""
    estimator(api, model_dir).train(canned_data.input_fn("label"), steps=STEPS)
    return losses(model_dir)
