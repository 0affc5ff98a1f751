"""A model whose weight and slot must be equal: `consistent_job.py MODEL_DIR MAX_STEPS SAVE_STEPS`.

Each step adds 1 to a weight on one parameter server, then to its slot on the other. The chief
prints how many checkpoints it wrote, and in how many weight, slot and global step differ.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train as est

SIZE = 50_000
tf1 = tf.compat.v1


class CompareValues(tf1.train.CheckpointSaverListener):
    """Reads each checkpoint and counts those whose values belong to different steps."""

    def __init__(self, model_dir: str) -> None:
        self._model_dir, self.written, self.torn = model_dir, 0, 0

    def after_save(self, session: Any, global_step_value: int) -> None:
        reader = tf.train.load_checkpoint(f"{self._model_dir}/model.ckpt-{global_step_value}")
        values = [reader.get_tensor(name) for name in ("weight", "slot")]
        step = reader.get_tensor("global_step")
        self.written += 1
        self.torn += any(value.min() != step or value.max() != step for value in values)


def model_fn(features: tf.Tensor, mode: str) -> est.EstimatorSpec:
    weight = tf1.get_variable("weight", [SIZE], initializer=tf1.zeros_initializer())
    slot = tf1.get_variable("slot", [SIZE], initializer=tf1.zeros_initializer())
    one = tf.ones([SIZE]) * features[0]
    with tf.control_dependencies([weight.assign_add(one, use_locking=True)]):
        added = slot.assign_add(one, use_locking=True)
    with tf.control_dependencies([added]):
        train_op = tf1.assign_add(tf1.train.get_global_step(), 1, use_locking=True)
    return est.EstimatorSpec(mode, loss=tf.reduce_sum(features) * 0.5, train_op=train_op)


def main() -> None:
    model_dir, steps, save_steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    listener = CompareValues(model_dir)
    config = est.RunConfig(
        model_dir,
        save_checkpoints_steps=save_steps,
        keep_checkpoint_max=2,
        log_step_count_steps=None,
        save_summary_steps=0,
        experimental_max_worker_delay_secs=0,
    )
    data = lambda: tf.data.Dataset.from_tensors(np.float32([1.0])).repeat()  # noqa: E731
    train = est.TrainSpec(data, steps, saving_listeners=[listener])
    evaluation = est.EvalSpec(data, steps=1)
    estimator = est.Estimator(model_fn, config=config)
    est.train_and_evaluate(estimator, train, evaluation)
    if config.is_chief:
        print("checkpoints", listener.written, "torn", listener.torn, flush=True)


if __name__ == "__main__":
    main()
