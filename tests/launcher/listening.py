"""Trains three steps in a launched cluster, and prints where this process listens at its port."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def listening() -> list[str]:
    """Local addresses, in hexadecimal, of this process's sockets that listen at its task's port."""
    here = json.loads(os.environ["TF_CONFIG"])
    task = here["task"]
    port = int(here["cluster"][task["type"]][task["index"]].rpartition(":")[2])
    own = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            own.add(os.readlink(descriptor))
        except FileNotFoundError:
            continue  # That of the listing itself.
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/self/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *_ = fields = line.split()
            address, _, at = local.partition(":")
            # linux/tcp_states.h: 10 listens.
            if state == "0A" and int(at, 16) == port and f"socket:[{fields[9]}]" in own:
                found.add(address)
    return sorted(found)


def main() -> None:
    import tensorflow as tf

    import estimator_train as est

    tf1 = tf.compat.v1
    kind, model_dir = sys.argv[1:]
    strategy = tf.distribute.MultiWorkerMirroredStrategy() if kind == "sync" else None

    class Look(tf1.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            # The kernel's table may lack a line if others open or close sockets as it is read.
            end = time.monotonic() + 10
            while not (found := listening()) and time.monotonic() < end:
                time.sleep(0.05)
            print(found)

    def model_fn(features: Any, mode: str) -> est.EstimatorSpec:
        weight = tf1.get_variable("weight", [])
        loss = tf.reduce_mean((features * weight - 1.0) ** 2)
        optimizer = tf1.train.GradientDescentOptimizer(0.1)
        train_op = optimizer.minimize(loss, tf1.train.get_global_step())
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

    config = est.RunConfig(
        model_dir, train_distribute=strategy, experimental_max_worker_delay_secs=0
    )
    est.train_and_evaluate(
        est.Estimator(model_fn, config=config),
        est.TrainSpec(lambda: tf.data.Dataset.from_tensors([1.0]).repeat(), 3, [Look()]),
        est.EvalSpec(lambda: tf.data.Dataset.from_tensors([1.0]), start_delay_secs=0),
    )


if __name__ == "__main__":
    main()
