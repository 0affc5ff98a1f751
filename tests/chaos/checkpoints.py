"""Damage to each file of the latest checkpoint: `python tests/chaos/checkpoints.py [PLACES]`.

Each case damages one file in a copy of a model directory and then continues training there. A file
is cut at PLACES positions (default 50), has PLACES ranges of its bytes flipped, or is removed. The
script prints JSON: by file and damage, how often training continued from which step, and the
crashes and wrong weights. The tests do the same at fewer places, for all uses of a checkpoint
(`tests/engine/checkpoints/test_integrity.py`).
"""

from __future__ import annotations

import collections
import json
import logging
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train as est

tf1 = tf.compat.v1
LATEST = 10


class Found(tf1.train.SessionRunHook):
    """Keeps what training begins with."""

    def begin(self) -> None:
        self._read = {"step": tf1.train.get_global_step(), "w": tf1.global_variables("w:0")[0]}

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.values = session.run(self._read)


def model_fn(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
    w = tf1.get_variable("w", [40, 3])
    loss = tf.reduce_mean((features @ w - labels) ** 2)
    optimizer = tf1.train.MomentumOptimizer(0.1, 0.9)
    return est.EstimatorSpec(
        mode, loss=loss, train_op=optimizer.minimize(loss, tf1.train.get_global_step())
    )


def rows() -> tf.data.Dataset:
    x = np.random.RandomState(0).randn(64, 40).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, x[:, :3])).repeat().batch(8)


def train(model_dir: Path, steps: int) -> dict[str, Any]:
    """Trains for some steps; returns the step that it began with."""
    config = est.RunConfig(save_checkpoints_steps=5, save_input_position=True)
    found = Found()
    est.Estimator(model_fn, model_dir, config).train(rows, [found], steps)
    return found.values


def damages(whole: bytes, places: int) -> Iterator[tuple[str, bytes | None]]:
    """Yields each damaged content of a file with the kind of damage; None removes the file."""
    ends = np.linspace(0, len(whole), places + 1).astype(int)
    for start, end in zip(ends, ends[1:], strict=False):
        yield "cut", whole[:start]
        if start < end:
            flipped = bytes(byte ^ 0xFF for byte in whole[start:end])
            yield "flipped", whole[:start] + flipped + whole[end:]
    yield "removed", None


def outcome(source: Path, name: str, content: bytes | None, weights: dict[int, Any]) -> str:
    """Returns the step from which training continues in a copy with one changed file."""
    with tempfile.TemporaryDirectory() as directory:
        model_dir = Path(directory) / "m"
        shutil.copytree(source, model_dir)
        if content is None:
            (model_dir / name).unlink()
        else:
            (model_dir / name).write_bytes(content)
        try:
            began = train(model_dir, 1)
        except Exception as error:
            return f"crashed: {type(error).__name__}: {error}".splitlines()[0]
    step = int(began["step"])
    right = step in weights and np.array_equal(began["w"], weights[step])
    return f"went on at step {step}" if right else f"wrong weights at step {step}"


def main() -> None:
    places = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    found: dict[str, collections.Counter[str]] = {}
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "m"
        train(source, LATEST)
        weights = {
            step: tf.train.load_variable(str(source / f"model.ckpt-{step}"), "w")
            for step in range(0, LATEST + 1, 5)
        }
        names = [path.name for path in source.iterdir() if f"-{LATEST}" in path.name]
        for name in (*sorted(names), "checkpoint"):
            for damage, content in damages((source / name).read_bytes(), places):
                counts = found.setdefault(f"{name} {damage}", collections.Counter())
                counts[outcome(source, name, content, weights)] += 1
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
