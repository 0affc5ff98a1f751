"""Boosted trees of the original, whose training is interrupted and continued from a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import boosted_trees
from boosted_trees import CASES, Case
from outcomes import GOLDEN

CHECKPOINTS = GOLDEN / "boosted_trees_checkpoints"


# Each case with the number of steps after which it is interrupted.
CONTINUED: dict[str, tuple[Case, int]] = {
    "people": (CASES["people center_bias"], 5),
    "before the first tree": (CASES["people center_bias"], 1),
    "at the end of a tree": (CASES["people"], 3),
    "pruned": (CASES["people post center_bias"], 5),
    "categorical": (CASES["people categorical"], 3),
    "numeric": (CASES["people numeric"], 5),
    "numeric batches": (
        CASES["people numeric"]._replace(settings={"n_batches_per_layer": 2}),
        1,
    ),
    "three classes": (CASES["events three classes l2"], 4),
    "batches": (CASES["events batches"], 15),
}


def interrupt(api: Any, name: str, model_dir: str) -> Any:
    """Returns the estimator of a case that is trained up to its interruption."""
    case, steps = CONTINUED[name]
    estimator = boosted_trees.made(api, case, model_dir)
    estimator.train(_make_input_fn(case), max_steps=steps)
    return estimator


def make_again(api: Any, name: str, model_dir: str) -> Any:
    """Returns the estimator of a case."""
    return boosted_trees.made(api, CONTINUED[name][0], model_dir)


def observe(estimator: Any, name: str, read_trees: Callable[[Any], Any]) -> dict[str, Any]:
    """Evaluates, predicts and explains, then trains to the end: figures by name."""
    case, _ = CONTINUED[name]
    found = {
        **boosted_trees.use(estimator, boosted_trees.input_fn(case.data, case.label, repeat=1)),
        "importances": boosted_trees.importances(estimator, normalize=False),
    }
    estimator.train(_make_input_fn(case))
    return {**found, "grown": read_trees(estimator)}


def keep_checkpoint(estimator: Any, name: str) -> None:
    """Copies the latest checkpoint to the recorded ones."""
    folder = CHECKPOINTS / name.replace(" ", "_")
    folder.mkdir(parents=True, exist_ok=True)
    path = Path(estimator.latest_checkpoint())
    for part in ("index", "data-00000-of-00001"):
        file = path.with_name(f"{path.name}.{part}")
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "checkpoint").write_text(f'model_checkpoint_path: "{path.name}"\n')


def _make_input_fn(case: Case) -> Any:
    batches = case.settings.get("n_batches_per_layer", 1)
    return boosted_trees.input_fn(case.data, case.label, batches)
