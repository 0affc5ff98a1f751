"""Trainings that begin in one place and continue in another, and their results.

The input restarts with each training, so that the first part ends with an epoch.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import keras_jobs
import training_jobs
from figures import Job, _losses, _variables
from jobs import Api
from outcomes import GOLDEN

CHECKPOINTS = GOLDEN / "checkpoints"
FIRST, MORE = 16, 8
JOBS = {
    "model_fn": training_jobs.JOBS["adam"],
    "keras_checkpoint": keras_jobs.JOBS["adam"],
    "keras_saver": keras_jobs.JOBS["adam_saver"],
}


def train(job: Job, api: Api, model_dir: Path, steps: int) -> dict[str, Any]:
    """Trains on in a model directory, for as many steps.

    Returns:
        The losses of all steps that were trained there, the evaluation, and the variables of the
        checkpoint with their types and shapes.
    """
    config = api.estimator.RunConfig(save_summary_steps=1, tf_random_seed=1)
    estimator = job.build(api, str(model_dir), config)
    estimator.train(job.train_input, steps=steps)
    metrics = estimator.evaluate(job.eval_input)
    return {
        "losses": _losses(str(model_dir)),
        "evaluation": {name: float(value) for name, value in sorted(metrics.items())},
        "variables": _variables(estimator),
    }


def copy_checkpoint(source: Path, target: Path) -> None:
    """Copies the latest checkpoint alone, as it would move to another machine."""
    target.mkdir(parents=True, exist_ok=True)
    name = f"model.ckpt-{FIRST}"
    for path in source.glob(f"{name}.*"):
        if path.suffix != ".meta":
            shutil.copy(path, target)
    # Of one format the original writes whole paths here, which the copy is not to have.
    (target / "checkpoint").write_text(f'model_checkpoint_path: "{name}"\n')
