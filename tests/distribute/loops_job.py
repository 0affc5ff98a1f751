"""A linear model in a cluster, in loops: `loops_job.py MODEL_DIR STEPS_PER_LOOP MAX_STEPS EPOCHS`.

MAX_STEPS 0 trains to the end of the input; the second worker's input has one more epoch. EPOCHS 0
means endless input. The chief's hook requests a stop after the step in STOP_AFTER, if that is set.
STRATEGY=ps trains over parameter servers. A task prints its last step, its weights, and the number
of steps that its hooks did not see.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train as est

EXAMPLES, BATCH, WIDTH = 320, 8, 4
tf1 = tf.compat.v1


def model_fn(features: tf.Tensor, labels: tf.Tensor, mode: str) -> est.EstimatorSpec:
    weights = tf1.get_variable("weights", [WIDTH, 1], initializer=tf1.zeros_initializer())
    loss = tf.reduce_mean((features @ weights - labels) ** 2)
    optimizer = tf1.train.MomentumOptimizer(0.01, 0.5)
    train_op = optimizer.minimize(loss, tf1.train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(input_context: tf.distribute.InputContext, epochs: int) -> tf.data.Dataset:
    x = np.random.RandomState(0).randn(EXAMPLES, WIDTH).astype(np.float32)
    part = input_context.input_pipeline_id
    data = tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True)))
    data = data.shard(input_context.num_input_pipelines, part)
    return data.repeat(epochs + part if epochs else None).batch(BATCH)


class Unseen(tf1.train.SessionRunHook):
    """Counts the steps that ran in loops; may ask to stop after some step."""

    def __init__(self, stop_after: int | None) -> None:
        self.steps, self._stop_after = 0, stop_after

    def begin(self) -> None:
        self._read = tf1.train.get_global_step()

    def steps_until_due(self, global_step: int) -> int | None:
        return self._stop_after and max(1, self._stop_after - global_step)

    def after_loop(self, steps: int, loss: Any) -> None:
        assert np.isfinite(loss)
        self.steps += steps

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self._stop_after and run_context.session.run(self._read) >= self._stop_after:
            run_context.request_stop()


def main() -> None:
    model_dir, steps_per_loop, max_steps, epochs = sys.argv[1:]
    is_ps = os.environ.get("STRATEGY") == "ps"
    config = est.RunConfig(
        model_dir=model_dir,
        train_distribute=None if is_ps else tf.distribute.MultiWorkerMirroredStrategy(),
        steps_per_loop=steps_per_loop if steps_per_loop == "auto" else int(steps_per_loop),
        save_checkpoints_steps=70,
        session_creation_timeout_secs=100,
        experimental_max_worker_delay_secs=0,
    )
    estimator = est.Estimator(model_fn, config=config)
    stop_after = int(os.environ.get("STOP_AFTER", 0)) if estimator.config.is_chief else 0
    unseen = Unseen(stop_after or None)

    def inputs(input_context: tf.distribute.InputContext) -> tf.data.Dataset:
        return input_fn(input_context, int(epochs))

    train = est.TrainSpec(inputs, int(max_steps) or None, [unseen])
    evaluation = est.EvalSpec(lambda: inputs(tf.distribute.InputContext()), steps=1)
    est.train_and_evaluate(estimator, train, evaluation)
    print("step", int(estimator.get_variable_value("global_step")))
    print("weights", *estimator.get_variable_value("weights").ravel())
    print("unseen", unseen.steps)


if __name__ == "__main__":
    main()
