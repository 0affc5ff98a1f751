"""Runs examples/spark_barrier.py, whose chief gets SIGTERM once: FOLDER DIRECTORY."""

import signal
import sys

import spark_barrier

FOLDER = sys.argv[1]


def train_and_stop_once(model_dir, max_steps):
    """Runs one task. Spark sends this function to its workers, which import the example."""
    import spark_barrier as example
    from stop_once import stop_chief_once

    stop_chief_once(FOLDER, signal.SIGTERM)
    return example.train_or_evaluate(model_dir, max_steps)


spark_barrier.train_or_evaluate = train_and_stop_once
spark_barrier.main(f"{FOLDER}/model", max_steps=300)
