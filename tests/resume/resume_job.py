"""One process of a job that is resumed: `resume_job.py KIND STRATEGY DIRECTORY START STAGE`.

START is the global step of the checkpoint from which the process starts. Stages:

  sigterm: an unbroken run in DIRECTORY/unbroken; then two calls of train in DIRECTORY/resumed, and
    a second estimator, which trains until it sends itself SIGTERM.
  sigkill: trains until it has written a checkpoint, and sends itself SIGKILL.
  last: trains three steps.
  server: the parameter server.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

import tensorflow as tf
from resume_kinds import FEATURES, KINDS, WIDTH, make_strategy

import estimator_train as est

STEPS_OF_UNBROKEN = 20
ENDS = (2, 4)  # of the first call of train and of the second
CLUSTERS = ("multi_worker", "ps", "ps_strategy")


class SignalHook(est.SessionRunHook):
    """Hook that sends a signal to its own process.

    Args:
      number: The signal.
      model_dir: Where checkpoints are.
      step: The first global step at which the signal is sent.
      min_checkpoint: The signal waits for a checkpoint of this step or a later one.
    """

    def __init__(self, number: int, model_dir: str, step: int, min_checkpoint: int) -> None:
        self._number, self._model_dir, self._step = number, model_dir, step
        self._min_checkpoint = min_checkpoint

    def before_run(self, run_context: Any) -> Any:
        return tf.compat.v1.train.SessionRunArgs(tf.compat.v1.train.get_global_step())

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results < self._step:
            return
        while latest_step(self._model_dir) < self._min_checkpoint:
            time.sleep(0.01)
        os.kill(os.getpid(), self._number)


def latest_step(model_dir: str) -> int:
    """Returns the global step of the latest checkpoint, 0 without one."""
    path = tf.train.latest_checkpoint(model_dir)
    return int(path.rpartition("-")[2]) if path else 0


def batches(kind: str, strategy: str, start: int, context: Any = None) -> tf.data.Dataset:
    """Returns the batches of the steps after `start`: batch i is a function of i alone."""
    workers = context.num_input_pipelines if context else 1
    number = context.input_pipeline_id if context else 0
    replicas = 2 if strategy in ("mirrored", "central_storage") else 1
    first = start * workers * replicas + number
    make_features = FEATURES.get(kind, lambda x: {"x": x})

    def batch(index: tf.Tensor) -> tuple[dict[str, Any], tf.Tensor]:
        phase = 0.7 * tf.cast(index, tf.float32)
        x = tf.reshape(tf.sin(phase + tf.range(4.0 * WIDTH)), [4, WIDTH])
        return make_features(x), tf.reduce_sum(x**2, axis=1, keepdims=True)

    return tf.data.Dataset.range(first, 10**6, workers).map(batch)


def make_estimator(kind: str, strategy: str, model_dir: str, save_steps: int) -> Any:
    # TensorFlow's optimizer of graphs takes a fifth of the time, and changes no value.
    session_config = tf.compat.v1.ConfigProto()
    session_config.graph_options.rewrite_options.disable_meta_optimizer = True
    config = est.RunConfig(
        session_config=session_config,
        model_dir=model_dir,
        tf_random_seed=1,
        save_checkpoints_steps=save_steps,
        keep_checkpoint_max=None,
        train_distribute=make_strategy(strategy),
        experimental_max_worker_delay_secs=0,
        preemption=est.Preemption(),
    )
    return KINDS[kind](config)


def train(estimator: Any, kind: str, strategy: str, start: int, end: int, *hooks: Any) -> None:
    """Trains from one global step to another."""
    if strategy == "multi_worker":

        def input_fn(input_context: Any) -> tf.data.Dataset:
            return batches(kind, strategy, start, input_context)
    else:

        def input_fn(**params: Any) -> tf.data.Dataset:  # type: ignore[misc]
            return batches(kind, strategy, start)

    if strategy not in CLUSTERS:
        estimator.train(input_fn, max_steps=end, hooks=hooks)
        return
    train_spec = est.TrainSpec(input_fn, max_steps=end, hooks=hooks)
    est.train_and_evaluate(estimator, train_spec, est.EvalSpec(input_fn, steps=1))


def main() -> None:
    kind, strategy, directory, first, stage = sys.argv[1:]
    start = int(first)
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    if stage == "server":
        # Unlike that of train_and_evaluate, it does not end with the first training.
        place = json.loads(os.environ["TF_CONFIG"])
        tf.distribute.Server(place["cluster"], "ps", place["task"]["index"]).join()
    unbroken, resumed = f"{directory}/unbroken", f"{directory}/resumed"
    if stage == "sigterm":
        train(make_estimator(kind, strategy, unbroken, 1), kind, strategy, 0, STEPS_OF_UNBROKEN)
        estimator = make_estimator(kind, strategy, resumed, 2)
        train(estimator, kind, strategy, 0, ENDS[0])
        train(estimator, kind, strategy, ENDS[0], ENDS[1])
        start = ENDS[1]
    estimator = make_estimator(kind, strategy, resumed, 2)
    if stage == "last":
        train(estimator, kind, strategy, start, start + 3)
        return
    hooks = []
    if stage == "sigterm":
        hooks.append(SignalHook(signal.SIGTERM, resumed, start + 3, 0))
    elif estimator.config.is_chief:
        # The test kills the other workers: the chief exits if another worker dies first.
        hooks.append(SignalHook(signal.SIGKILL, resumed, start + 3, start + 1))
    train(estimator, kind, strategy, start, STEPS_OF_UNBROKEN + 10, *hooks)


if __name__ == "__main__":
    main()
