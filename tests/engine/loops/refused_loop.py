"""Trains and evaluates a convolution whose loops TensorFlow cannot run, and one in single steps.

The bias of the loop's convolution is read after the convolution. oneDNN fuses both operations, and
the fused one waits for itself. The graph of single steps has no such order.

    TF_ENABLE_ONEDNN_OPTS=1 python refused_loop.py

prints a JSON object: the results of both jobs, and the log lines of the first.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))

import tensorflow as tf  # noqa: E402
from fused_models import MODELS, STEPS, SeeEveryStep, input_fn, make_model_fn  # noqa: E402

import estimator_train as est  # noqa: E402
from estimator_train.engine.loops import reference_variables  # noqa: E402

find_updates = reference_variables._Updates.find


def wait_for_other_inputs(updates: Any, variable: tf.Operation, reader: tf.Operation) -> list[str]:
    """Returns the operations that the read of a bias waits for, the convolution among them."""
    others = [tensor.op for tensor in reader.inputs] if reader.type == "BiasAdd" else []
    convolutions = [other.name for other in others if other.type == "Conv2D"]
    return [*find_updates(updates, variable, reader), *convolutions]


class Records(logging.Handler):
    """Handler that keeps log lines."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname}: {record.getMessage()}")


def run_job(model_dir: str, *hooks: est.SessionRunHook) -> dict[str, Any]:
    """Returns the variables after two trainings, and the metrics of two evaluations."""
    model_fn = make_model_fn(MODELS["convolution"], use_resource=False)
    config = est.RunConfig(tf_random_seed=1, save_checkpoints_steps=100)
    estimator = est.Estimator(model_fn, model_dir, config)
    estimator.train(input_fn, hooks, steps=STEPS - 1)
    estimator.train(input_fn, hooks, steps=STEPS)
    names = estimator.get_variable_names()
    metrics = [estimator.evaluate(input_fn, hooks=hooks) for _ in range(2)]
    return {
        "variables": {name: estimator.get_variable_value(name).tolist() for name in names},
        "metrics": [{name: float(value) for name, value in found.items()} for found in metrics],
    }


if __name__ == "__main__":
    records = Records()
    tf.get_logger().addHandler(records)
    tf.get_logger().setLevel(logging.INFO)
    reference_variables._Updates.find = wait_for_other_inputs
    with tempfile.TemporaryDirectory() as folder:
        refused = run_job(f"{folder}/loops")
        lines = [*records.lines]
        steps = run_job(f"{folder}/steps", SeeEveryStep())
    print(json.dumps({"loops": refused, "steps": steps, "lines": lines}))
