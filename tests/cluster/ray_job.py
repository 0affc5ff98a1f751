"""Runs examples/ray_train.py, whose chief is killed once: FOLDER RAY_DIRECTORY."""

import signal
import sys

import ray
import ray_train

FOLDER, RAY_DIRECTORY = sys.argv[1:]


def train_and_stop_once(settings):
    """Runs one task. Ray sends this function to its workers, which import the example."""
    from stop_once import stop_chief_once

    stop_chief_once(FOLDER, signal.SIGKILL)
    ray_train.train_or_evaluate(settings)


ray.init(num_cpus=3, include_dashboard=False, object_store_memory=10**8, _temp_dir=RAY_DIRECTORY)
ray_train.train_or_evaluate = train_and_stop_once
ray_train.main(FOLDER, max_steps=300)
