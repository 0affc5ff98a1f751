"""A linear regression for a cluster: `linear_job.py MODEL_DIR MAX_STEPS [ROLE:STEP ...]`.

Each ROLE:STEP has that task kill itself once, as the operating system kills, at that global step.
The variables STRATEGY and WAIT_SECS choose a strategy, and how long others are waited for;
STRATEGY=sync_replicas is an optimizer, with which one chief and one worker make each step together.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train as est

TRUE_WEIGHTS = np.float32([[1.0], [-2.0], [0.5]])
SAVE_STEPS = 50
tf1 = tf.compat.v1


def model_fn(features: tf.Tensor, labels: tf.Tensor, mode: str) -> est.EstimatorSpec:
    weights = tf1.get_variable("weights", [3, 1], initializer=tf1.zeros_initializer())
    loss = tf.reduce_mean((features @ weights - labels) ** 2)
    optimizer, hooks = tf1.train.GradientDescentOptimizer(0.02), []
    if os.environ.get("STRATEGY") == "sync_replicas" and mode == est.ModeKeys.TRAIN:
        optimizer = tf1.train.SyncReplicasOptimizer(optimizer, replicas_to_aggregate=2)
        is_chief = est.RunConfig().task_type == "chief"
        hooks.append(optimizer.make_session_run_hook(is_chief, num_tokens=0))
    train_op = optimizer.minimize(loss, tf1.train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=hooks)


def input_fn() -> tf.data.Dataset:
    x = np.random.RandomState(0).randn(64, 3).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, x @ TRUE_WEIGHTS)).shuffle(64).repeat().batch(8)


def mark_of(model_dir: str, name: str) -> str:
    return os.path.join(model_dir, f"killed_{name}")


def read_saved_step(model_dir: str) -> int:
    """Returns the step of the last checkpoint, which a thread writes; -1 without one."""
    path = tf.train.latest_checkpoint(model_dir)
    return int(path.rpartition("-")[2]) if path else -1


def kill_once(model_dir: str, name: str, least_saved: int) -> None:
    """Kills this task, unless that was done or the last checkpoint is of an earlier step."""
    mark = mark_of(model_dir, name)
    if not os.path.exists(mark) and read_saved_step(model_dir) >= least_saved:
        open(mark, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)


class Slowly(tf1.train.SessionRunHook):
    """Yields to the other tasks, kills this task at its step, and waits for kills of other tasks.

    All happens between steps, after the other hooks have handled the last step and saved.
    """

    def __init__(self, model_dir: str, name: str, kills: dict[str, int]) -> None:
        self._model_dir, self._name, self._kills = model_dir, name, kills

    def begin(self) -> None:
        self._step = tf1.train.get_global_step()
        self._seen = -1

    def before_run(self, run_context: Any) -> Any:
        time.sleep(0.005)
        kill_step = self._kills.get(self._name, sys.maxsize)
        if self._seen >= kill_step:
            kill_once(self._model_dir, self._name, kill_step - SAVE_STEPS)
        while self._must_wait():
            time.sleep(0.05)
        return tf1.train.SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._seen = int(run_values.results)

    def _must_wait(self) -> bool:
        """Returns whether a task that reached its kill step or checkpoint was not killed yet."""
        if os.environ.get("STRATEGY") == "multi_worker":
            return False  # All make the same steps.
        return any(
            self._seen >= step + (SAVE_STEPS if name.startswith("ps") else 0)
            and not os.path.exists(mark_of(self._model_dir, name))
            for name, step in self._kills.items()
        )


def kill_server_at(model_dir: str, name: str, step: int) -> None:
    """Kills a parameter server at a checkpoint, since it sees no steps."""

    def watch() -> None:
        while True:
            kill_once(model_dir, name, step)
            time.sleep(0.1)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    model_dir, max_steps, *kills = sys.argv[1:]
    strategy = None
    if os.environ.get("STRATEGY") == "multi_worker":
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    config = est.RunConfig(
        model_dir=model_dir,
        save_checkpoints_steps=SAVE_STEPS,
        train_distribute=strategy,
        experimental_max_worker_delay_secs=0,
        session_creation_timeout_secs=float(os.environ.get("WAIT_SECS", 100)),
    )
    estimator = est.Estimator(model_fn, config=config)
    config = estimator.config
    name = f"{config.task_type}:{config.task_id}"
    steps = {role: int(step) for role, _, step in (kill.rpartition(":") for kill in kills)}
    if config.task_type == "ps" and name in steps:
        kill_server_at(model_dir, name, steps[name])
    first = tf.train.latest_checkpoint(model_dir)
    print("begins at", first and int(first.rpartition("-")[2]), flush=True)
    train = est.TrainSpec(input_fn, int(max_steps) or None, [Slowly(model_dir, name, steps)])
    evaluation = est.EvalSpec(input_fn, steps=4, start_delay_secs=0, throttle_secs=1)
    result = est.train_and_evaluate(estimator, train, evaluation)
    if result:
        print("evaluated", int(result[0]["global_step"]))
    print("step", int(estimator.get_variable_value("global_step")))
    print("weights", *estimator.get_variable_value("weights").ravel())


if __name__ == "__main__":
    main()
