"""Workers of which one has slow input: `slow_worker_job.py MODEL_DIR MAX_STEPS SLOW_TASK`."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator

import numpy as np
import tensorflow as tf

import estimator_train as est

WAIT_SECS = 0.03
tf1 = tf.compat.v1


def model_fn(features: tf.Tensor, mode: str) -> est.EstimatorSpec:
    weight = tf1.get_variable("weight", [])
    loss = tf.reduce_mean((features * weight - 1.0) ** 2)
    train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(loss, tf1.train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main() -> None:
    model_dir, steps, slow = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    config = json.loads(os.environ["TF_CONFIG"])
    is_slow = slow == f"{config['task']['type']}:{config['task']['index']}"

    def examples() -> Iterator[np.ndarray]:
        while True:
            time.sleep(WAIT_SECS if is_slow else 0)
            yield np.float32([1.0])

    signature = tf.TensorSpec([1], tf.float32)
    data = lambda: tf.data.Dataset.from_generator(examples, output_signature=signature)  # noqa: E731
    has_ps = "ps" in config["cluster"]
    strategy = None if has_ps else tf.distribute.MultiWorkerMirroredStrategy()
    run_config = est.RunConfig(
        model_dir, train_distribute=strategy, experimental_max_worker_delay_secs=0
    )
    estimator = est.Estimator(model_fn, config=run_config)
    evaluation = est.EvalSpec(data, steps=1, start_delay_secs=0)
    est.train_and_evaluate(estimator, est.TrainSpec(data, steps), evaluation)


if __name__ == "__main__":
    main()
