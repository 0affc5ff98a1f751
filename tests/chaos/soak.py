"""A long training whose process must not grow: `python tests/chaos/soak.py DIRECTORY STEPS`.

It trains a tiny model with all that runs by default (loops of steps, summaries, a history,
checkpoints, evaluations between) and prints, as JSON, what the process held at each of 40 moments.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train as est

SAMPLES = 40
tf1 = tf.compat.v1


def model_fn(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
    weights = tf1.get_variable("weights", [3, 1], initializer=tf1.zeros_initializer())
    error = features @ weights - labels
    loss = tf.reduce_mean(error**2)
    train_op = tf1.train.GradientDescentOptimizer(0.01).minimize(loss, tf1.train.get_global_step())
    metrics = {"error": tf1.metrics.mean(tf.abs(error))}
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def rows() -> tf.data.Dataset:
    x = np.random.RandomState(0).randn(64, 3).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(8)


def held(model_dir: Path, step: int) -> dict[str, float]:
    """Returns the current sizes of this process and of its event files."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    events = sum(path.stat().st_size for path in model_dir.rglob("events.out.*"))
    return {
        "step": step,
        "secs": time.monotonic(),
        "memory_mb": pages * os.sysconf("SC_PAGE_SIZE") / 2**20,
        "open_files": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
        "event_bytes": events,
    }


class Samples(tf1.train.CheckpointSaverListener):
    """Takes a sample after each checkpoint whose step is a multiple of some."""

    def __init__(self, model_dir: Path, every: int) -> None:
        self._model_dir, self._every = model_dir, every
        self.taken: list[dict[str, float]] = []

    def after_save(self, session: Any, global_step_value: int) -> None:
        # The last one is saved twice where the end is a multiple too.
        seen = self.taken[-1]["step"] if self.taken else 0
        if global_step_value >= seen + self._every:
            self.taken.append(held(self._model_dir, int(global_step_value)))


def main() -> None:
    model_dir, steps = Path(sys.argv[1]), int(sys.argv[2])
    config = est.RunConfig(model_dir, save_checkpoints_steps=steps // (2 * SAMPLES))
    samples = Samples(model_dir, steps // SAMPLES)
    est.train_and_evaluate(
        est.Estimator(model_fn, config=config),
        est.TrainSpec(lambda: rows().repeat(), steps, saving_listeners=[samples]),
        est.EvalSpec(rows, steps=None, start_delay_secs=0, throttle_secs=0),
    )
    print(json.dumps(samples.taken))


if __name__ == "__main__":
    main()
