"""Trains a job and writes down its figures: losses, checkpoints, events, results, exports."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from cases_events import events
from cases_export import signatures
from file_lists import list_files
from jobs import Api

STEPS = 50
SHOWN_PREDICTIONS = 3
# A Keras model uses the name "loss" for a scope.
LOSS_TAGS = ("loss", "loss_1")


class Job(NamedTuple):
    """A model with fixed initial values, and fixed data in a fixed order.

    Attributes:
        build: Makes the Estimator from an API, a model directory and a RunConfig.
        train_input, eval_input: The input functions.
        receiver: Makes the serving input receiver function, called without a graph.
        flavours: Where it is recorded.
    """

    build: Callable[[Api, str, Any], Any]
    train_input: Callable[[], tf.data.Dataset]
    eval_input: Callable[[], tf.data.Dataset]
    receiver: Callable[[Api], Callable[[], Any]]
    flavours: tuple[str, ...] = ("v2", "v1")


def observe(job: Job, api: Api, base: str) -> dict[str, Any]:
    """Train 50 steps, evaluate, predict and export.

    Args:
        job: What to train.
        api: With which flavour.
        base: An empty directory.

    Returns:
        Figures by name, ready for JSON.
    """
    model_dir = str(Path(base) / "model")
    config = api.estimator.RunConfig(
        save_summary_steps=1, log_step_count_steps=10, save_checkpoints_steps=20
    )
    estimator = job.build(api, model_dir, config)
    estimator.train(job.train_input, steps=STEPS)
    result = estimator.evaluate(job.eval_input)
    rows = estimator.predict(job.eval_input)
    exported = estimator.export_saved_model(str(Path(base) / "export"), job.receiver(api))
    exported = exported.decode() if isinstance(exported, bytes) else exported
    return {
        "losses": _losses(model_dir),
        "global_step": int(result["global_step"]),
        "variables": _variables(estimator),
        "files": _files(model_dir),
        "events": _tags(model_dir),
        "evaluation": [[key, type(value).__name__, float(value)] for key, value in result.items()],
        "predictions": [
            {key: [str(value.dtype), np.asarray(value).tolist()] for key, value in row.items()}
            for row, _ in zip(rows, range(SHOWN_PREDICTIONS), strict=False)
        ],
        "export": {"signatures": signatures(exported), "files": _files(exported)},
    }


def _losses(model_dir: str) -> list[float]:
    """Returns the loss of every step, as the event file has it at full precision."""
    found = {}
    for path in Path(model_dir).glob("events.out.tfevents.*"):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if value.tag in LOSS_TAGS:
                    found[event.step] = value.simple_value
    return [found[step] for step in sorted(found)]


def _variables(estimator: Any) -> list[list[Any]]:
    reader = tf.train.load_checkpoint(estimator.latest_checkpoint())
    dtypes = reader.get_variable_to_dtype_map()
    shapes = reader.get_variable_to_shape_map()
    return [[name, dtypes[name].name, shapes[name]] for name in sorted(shapes)]


def _files(directory: str) -> list[str]:
    """Returns names below a directory, without host and time, and without the count of shards."""
    return sorted({re.sub(r"(tfevents|\.data).*", r"\1", name) for name in list_files(directory)})


def _tags(model_dir: str) -> dict[str, dict[str, list[int]]]:
    """Steps of every tag in every directory, as first, last and how many."""
    found = {}
    for directory, rows in events(model_dir).items():
        steps: dict[str, list[int]] = {}
        for step, kind, tag in rows:
            steps.setdefault(f"{kind} {tag}".strip(), []).append(step)
        found[directory] = {
            tag: [min(all_), max(all_), len(all_)] for tag, all_ in sorted(steps.items())
        }
    return found
