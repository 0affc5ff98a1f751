"""Fifty steps of a small network: `fifty_steps.py DIRECTORY NAME...`, losses by name on stdout.

Names: single (the global batch on one device), mirrored and central on two virtual CPU devices,
workers (this process is one of the cluster in TF_CONFIG).
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train as est

STEPS, GLOBAL_BATCH, EXAMPLES = 50, 16, 160
tf1 = tf.compat.v1


def model_fn(features: tf.Tensor, labels: tf.Tensor, mode: str) -> est.EstimatorSpec:
    random = np.random.RandomState(1)
    first = tf1.get_variable("first", initializer=random.randn(3, 8).astype(np.float32))
    second = tf1.get_variable("second", initializer=random.randn(8, 1).astype(np.float32))
    rows = tf1.get_variable("rows", initializer=random.randn(9, 8).astype(np.float32))
    # Each replica has gradients of different rows, and of a different number of rows.
    wanted, places = tf.unique(tf.cast(tf.clip_by_value(features[:, 0] * 2, -4, 4), tf.int32) + 4)
    row = tf.gather(tf.nn.embedding_lookup(rows, wanted), places)
    prediction = tf.tanh(features @ first + row) @ second
    loss = tf.reduce_mean((prediction - labels) ** 2)
    train_op = tf1.train.MomentumOptimizer(0.02, 0.9).minimize(loss, tf1.train.get_global_step())
    metrics = {"error": tf1.metrics.mean(tf.abs(prediction - labels))}
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def input_fn(parts: int, part: int, replicas: int) -> tf.data.Dataset:
    """Returns one of `parts` inputs, which together have the same examples for any `parts`."""
    random = np.random.RandomState(0)
    x = random.randn(EXAMPLES, 3).astype(np.float32)
    y = np.sin(x.sum(1, keepdims=True)).astype(np.float32)
    rows = np.arange(EXAMPLES).reshape(-1, parts, GLOBAL_BATCH // parts)[:, part].ravel()
    data = tf.data.Dataset.from_tensor_slices((x[rows], y[rows]))
    return data.repeat().batch(GLOBAL_BATCH // replicas, drop_remainder=True)


class Losses(tf1.train.SessionRunHook):
    def __init__(self) -> None:
        self.seen: list[float] = []

    def before_run(self, run_context: Any) -> Any:
        loss = tf1.get_collection(tf1.GraphKeys.LOSSES)[-1]  # The engine adds it last.
        return tf1.train.SessionRunArgs(loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.seen.append(float(run_values.results))


def strategy_of(name: str) -> Any:
    devices = ["/cpu:0", "/cpu:1"]
    return {
        "single": lambda: None,
        "mirrored": lambda: tf.distribute.MirroredStrategy(devices),
        "central": lambda: tf.distribute.experimental.CentralStorageStrategy(devices, "/cpu:0"),
        "central_v1": lambda: tf1.distribute.experimental.CentralStorageStrategy(devices, "/cpu:0"),
        "workers": tf.distribute.MultiWorkerMirroredStrategy,
    }[name]()


def train(directory: str, name: str) -> dict[str, Any]:
    strategy = strategy_of(name)
    config = est.RunConfig(
        model_dir=f"{directory}/{name}", train_distribute=strategy, eval_distribute=strategy
    )
    losses = Losses()

    def inputs(input_context: tf.distribute.InputContext) -> tf.data.Dataset:
        return input_fn(
            input_context.num_input_pipelines,
            input_context.input_pipeline_id,
            input_context.num_replicas_in_sync,
        )

    estimator = est.Estimator(model_fn, config=config)
    estimator.train(inputs, hooks=[losses], steps=STEPS)
    # A process evaluates alone, on all of its devices.
    replicas = 2 if strategy is not None and name != "workers" else 1
    metrics = estimator.evaluate(lambda: input_fn(1, 0, replicas), steps=10)
    return {
        "losses": losses.seen,
        "names": estimator.get_variable_names(),
        "metrics": {key: float(value) for key, value in metrics.items()},
    }


def main() -> None:
    directory, *names = sys.argv[1:]
    if "workers" not in names:
        cpu = tf.config.list_physical_devices("CPU")[0]
        logical = [tf.config.LogicalDeviceConfiguration()] * 2
        tf.config.set_logical_device_configuration(cpu, logical)
    print(json.dumps({name: train(directory, name) for name in names}))


if __name__ == "__main__":
    main()
