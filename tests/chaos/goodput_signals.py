"""Goodput of one process that gets SIGTERM: `goodput_signals.py PYTHON [--secs=N] [--every=N]`.

PYTHON is an interpreter with this package, or one with TensorFlow 2.15 and tf.estimator. A model of
400 MB trains, a shell loop starts the process again whenever it ends, and SIGTERM comes every
--every seconds (0: never). It prints the useful steps: those of the last checkpoint.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

JOB = """
import os, pathlib, sys
pathlib.Path(sys.argv[1]).with_name("pid").write_text(str(os.getpid()))
import tensorflow as tf
try:
    import estimator_train as est
    settings = {"preemption": True}
except ImportError:
    est, settings = tf.estimator, {}
tf1 = tf.compat.v1

def model_fn(features, labels, mode):
    table = tf1.get_variable("table", [1000000, 100], initializer=tf1.zeros_initializer())
    rows = tf.gather(table, features)
    loss = tf.reduce_mean((tf.reduce_sum(rows, 1) - 1.0) ** 2)
    optimizer = tf1.train.GradientDescentOptimizer(0.01)
    return est.EstimatorSpec(
        mode, loss=loss, train_op=optimizer.minimize(loss, tf1.train.get_global_step())
    )

def input_fn():
    data = tf.data.Dataset.range(1000000).repeat().batch(32)
    return data.map(lambda x: (x, x))

config = est.RunConfig(sys.argv[1], save_checkpoints_secs=10, keep_checkpoint_max=2, **settings)
est.Estimator(model_fn, config=config).train(input_fn)
"""
STEP = """
import sys
import tensorflow as tf
path = tf.train.latest_checkpoint(sys.argv[1])
print(tf.train.load_variable(path, "global_step") if path else 0)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python")
    parser.add_argument("--secs", type=float, default=150)
    parser.add_argument("--every", type=float, default=30)
    options = parser.parse_args()
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    with tempfile.TemporaryDirectory() as directory:
        loop = f"while true; do {options.python} {directory}/job.py {directory}/model; done"
        Path(directory, "job.py").write_text(JOB)
        begun = time.monotonic()
        process = subprocess.Popen(
            ["bash", "-c", loop],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            signals = 0
            while time.monotonic() - begun < options.secs:
                time.sleep(0.1)
                if options.every and time.monotonic() - begun > options.every * (signals + 1):
                    signals += 1
                    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                        os.kill(int(Path(directory, "pid").read_text()), signal.SIGTERM)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        found = subprocess.run(
            [options.python, "-c", STEP, f"{directory}/model"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    print(json.dumps({"signals": signals, "useful_steps": int(found.stdout.split()[-1])}))


if __name__ == "__main__":
    main()
