"""A small network for two synchronous workers that are killed: `goodput_job.py MODEL_DIR SECS`.

Each worker appends "TIME STEP" to `MODEL_DIR/worker-INDEX.steps` about every 0.1 seconds. Training
ends SECS seconds after the first start of the job.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

SAVE_SECS = 3
WRITE_SECS = 0.1
BATCH = 16


def main() -> None:
    directory, end = Path(sys.argv[1]), float(sys.argv[2])
    task = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {"type": "chief", "index": 0})
    name = f"{task['type']}-{task['index']}"
    (directory / f"{name}.pid").write_text(str(os.getpid()))

    import tensorflow as tf

    import estimator_train as est

    tf1 = tf.compat.v1
    tf1.logging.set_verbosity("ERROR")

    class WriteSteps(tf1.train.SessionRunHook):
        """Writes the global step; ends training when its time is over."""

        def begin(self) -> None:
            self._file = (directory / f"{name}.steps").open("a", buffering=1)
            self._step = tf1.train.get_global_step()
            self._written = 0.0

        def after_create_session(self, session: Any, coord: Any) -> None:
            self._now = int(session.run(self._step))

        def steps_until_due(self, global_step: int) -> None:
            return None

        def after_loop(self, steps: int, loss: Any) -> bool:
            return self._write(self._now + steps)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            if self._write(self._now + 1):
                run_context.request_stop()

        def _write(self, step: int) -> bool:
            self._now, now = step, time.time()
            if now - self._written > WRITE_SECS:
                self._file.write(f"{now} {step}\n")
                self._written = now
            return now > end

    def model_fn(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
        kernel = tf1.get_variable("kernel", [5, 5, 1, 8])
        hidden = tf.nn.relu(tf.nn.conv2d(features, kernel, 2, "SAME"))
        second = tf1.get_variable("second", [5, 5, 8, 16])
        hidden = tf.nn.relu(tf.nn.conv2d(hidden, second, 2, "SAME"))
        weights = tf1.get_variable("weights", [7 * 7 * 16, 10])
        logits = tf.reshape(hidden, [-1, 7 * 7 * 16]) @ weights
        loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
        train_op = tf1.train.AdamOptimizer().minimize(loss, tf1.train.get_global_step())
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def input_fn() -> tf.data.Dataset:
        random = np.random.RandomState(0)
        images = random.rand(512, 28, 28, 1).astype(np.float32)
        labels = random.randint(0, 10, 512)
        return tf.data.Dataset.from_tensor_slices((images, labels)).repeat().batch(BATCH)

    strategy = None
    if os.environ.get("TF_CONFIG"):
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    config = est.RunConfig(
        str(directory), save_checkpoints_secs=SAVE_SECS, train_distribute=strategy
    )
    est.Estimator(model_fn, config=config).train(input_fn, hooks=[WriteSteps()])


if __name__ == "__main__":
    main()
