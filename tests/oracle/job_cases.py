"""Behaviours of complete jobs: train_and_evaluate, specs, exporters.

A case is a function of the API and an empty model directory, as in `cases`, kept in a registry of
its own: the lines that are logged count as far as they tell how a job goes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import cases
import tensorflow as tf
from jobs import Api, tiny_estimator, tiny_input

tf1 = tf.compat.v1
CASES: dict[str, dict[str, cases.Case]] = {}
# It tells a step that the original reads now before, now after the step's end.
_STOP = "INFO Requesting early stopping at global step"
_TELLING = (
    "INFO Not using Distribute",
    "INFO Running training and evaluation",
    "INFO Start train and evaluate",
    "INFO Skip",
    "INFO Saving ",
    "INFO Calling checkpoint listeners",
    "INFO A CheckpointSaverListener",
    "INFO Evaluation [",
    "INFO Loss for final",
    "INFO Performing",
    "INFO Loading best",
    _STOP,
    "INFO At step",
    "INFO No increase",
    "INFO No decrease",
    "INFO Warm-starting",
    "WARNING ",
    "ERROR ",
)


def case_of(subject: str) -> Callable[[cases.Case], cases.Case]:
    """Registers a behaviour under a subject; each subject has a golden file."""

    def register(function: cases.Case) -> cases.Case:
        CASES.setdefault(subject, {})[function.__name__] = function
        return function

    return register


def observe(function: cases.Case, api: Api) -> dict[str, Any]:
    """Runs one case in an empty directory: its result or error, and the telling lines."""
    seen = cases.observe(function, api)
    seen["log"] = [
        _STOP if line.startswith(_STOP) else line
        for line in seen["log"]
        if line.startswith(_TELLING) and "already exists; retrying" not in line
    ]
    return seen


def once() -> tf.data.Dataset:
    """Returns the tiny data as two batches, for evaluation."""
    return tiny_input(repeat=1)


def estimator(api: Api, model_dir: str, model_fn: Any = None, **config: Any) -> Any:
    """Returns a tiny Estimator that saves every third step."""
    settings = {"save_checkpoints_steps": 3, "save_summary_steps": 2, "log_step_count_steps": 2}
    arguments = {} if model_fn is None else {"model_fn": model_fn}
    return tiny_estimator(
        api, model_dir, config=api.estimator.RunConfig(**{**settings, **config}), **arguments
    )


def run(
    api: Api,
    estimator: Any,
    train: dict[str, Any] | None = None,
    evaluate: dict[str, Any] | None = None,
) -> list[Any]:
    """train_and_evaluate of the tiny data to step 7, each checkpoint evaluated."""
    train_spec = api.estimator.TrainSpec(
        **{"input_fn": tiny_input, "max_steps": 7, **(train or {})}
    )
    eval_spec = api.estimator.EvalSpec(**{"input_fn": once, "throttle_secs": 0, **(evaluate or {})})
    return shown(api.estimator.train_and_evaluate(estimator, train_spec, eval_spec))


def shown(value: Any) -> Any:
    """Converts NumPy numbers to Python numbers, and bytes to text; other values stay."""
    if isinstance(value, dict):
        return {key: shown(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [shown(item) for item in value]
    if isinstance(value, bytes):
        return value.decode()
    return value.item() if hasattr(value, "item") else value


def global_step(estimator: Any) -> int:
    return int(estimator.get_variable_value("global_step"))


def files(model_dir: str) -> list[str]:
    """Returns names in a model directory but for what only ours has; event files by their kind."""
    names = set(os.listdir(model_dir)) - {"history.jsonl"}
    return sorted("events" if name.startswith("events.out.tfevents.") else name for name in names)


def noting_exporter(api: Api, calls: list[Any], name: str = "noting", result: Any = None) -> Any:
    """Returns an Exporter that notes its calls."""

    class Noting(api.estimator.Exporter):
        @property
        def name(self):
            return name

        def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
            where = [
                os.path.relpath(p, estimator.model_dir) for p in (export_path, checkpoint_path)
            ]
            calls.append([*where, shown(dict(eval_result)), is_the_final_export])
            return result

    return Noting()
