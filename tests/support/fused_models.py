"""Small models of operations that TensorFlow fuses, trained and evaluated in loops and in steps.

    python fused_models.py '{"models": ["convolution"], "threads": 1}'

prints a JSON object: for each model, with reference or resource variables, with or without XLA, the
largest difference between loops and single steps. A program has the environment variables of
oneDNN before it imports TensorFlow.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train as est

v1 = tf.compat.v1
STEPS = 6
Layer = Callable[[tf.Tensor, bool], tf.Tensor]


def read(name: str, *shape: int, **settings: Any) -> Any:
    return v1.get_variable(name, shape, **settings)


def add_bias(maps: tf.Tensor, activation: Callable[[tf.Tensor], tf.Tensor] = tf.nn.relu) -> Any:
    """Returns the maps with a bias and an activation, as one operation computes them."""
    return activation(tf.nn.bias_add(maps, read("bias", maps.shape[-1])))


def convolve(maps: tf.Tensor, name: str = "kernel", padding: str = "SAME") -> tf.Tensor:
    return tf.nn.conv2d(maps, read(name, 3, 3, maps.shape[-1], 4), 1, padding)


def convolution(maps: tf.Tensor, training: bool) -> tf.Tensor:
    return add_bias(convolve(maps))


def residual(maps: tf.Tensor, training: bool) -> tf.Tensor:
    inner = tf.nn.bias_add(convolve(maps), read("bias", 4))
    return tf.nn.relu(inner + maps)


def padded(maps: tf.Tensor, training: bool) -> tf.Tensor:
    around = tf.pad(maps, [[0, 0], [1, 1], [1, 1], [0, 0]])
    return add_bias(convolve(around, padding="VALID"), tf.nn.leaky_relu)


def depthwise(maps: tf.Tensor, training: bool) -> tf.Tensor:
    kernel = read("kernel", 3, 3, 4, 1)
    return add_bias(tf.nn.depthwise_conv2d(maps, kernel, [1, 1, 1, 1], "SAME"), tf.nn.relu6)


def separable(maps: tf.Tensor, training: bool) -> tf.Tensor:
    kernels = read("depths", 3, 3, 4, 1), read("points", 1, 1, 4, 4)
    return add_bias(tf.nn.separable_conv2d(maps, *kernels, [1, 1, 1, 1], "SAME"), tf.nn.elu)


def transposed(maps: tf.Tensor, training: bool) -> tf.Tensor:
    size = tf.stack([tf.shape(maps)[0], 12, 12, 3])
    found = tf.nn.conv2d_transpose(maps, read("kernel", 3, 3, 3, 4), size, 2, "SAME")
    return add_bias(tf.ensure_shape(found, [None, 12, 12, 3]))


def three_dimensions(maps: tf.Tensor, training: bool) -> tf.Tensor:
    kernel = read("kernel", 2, 3, 3, 1, 2)
    return add_bias(tf.nn.conv3d(maps[..., None], kernel, [1] * 5, "SAME"))


def pooling(maps: tf.Tensor, training: bool) -> tf.Tensor:
    maps = tf.nn.max_pool2d(add_bias(convolve(maps)), 2, 2, "SAME")
    return tf.nn.avg_pool2d(maps, 2, 1, "VALID")


def batch_normalization(maps: tf.Tensor, training: bool) -> tf.Tensor:
    maps = convolve(maps)
    scale = read("scale", 4, initializer=v1.ones_initializer())
    offset = read("offset", 4)
    averages = [
        read("mean", 4, initializer=v1.zeros_initializer(), trainable=False),
        read("variance", 4, initializer=v1.ones_initializer(), trainable=False),
    ]
    if not training:
        means, variances = averages
        maps, *_ = v1.nn.fused_batch_norm(maps, scale, offset, means, variances, is_training=False)
        return tf.nn.relu(maps)
    maps, *moments = v1.nn.fused_batch_norm(maps, scale, offset)
    for average, moment in zip(averages, moments, strict=True):
        update = v1.assign_sub(average, (average - moment) * 0.1)
        v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, update)
    return tf.nn.relu(maps)


def dense(maps: tf.Tensor, training: bool) -> tf.Tensor:
    rows = tf.reshape(maps, [-1, 6 * 6 * 4])
    for number, activation in enumerate([tf.nn.relu, tf.nn.tanh, tf.nn.elu, tf.nn.gelu]):
        with v1.variable_scope(f"dense_{number}"):
            rows = add_bias(tf.matmul(rows, read("kernel", rows.shape[-1], 8)), activation)
    return rows


MODELS: dict[str, Layer] = {
    "convolution": convolution,
    "residual": residual,
    "padded": padded,
    "depthwise": depthwise,
    "separable": separable,
    "transposed": transposed,
    "3-D": three_dimensions,
    "pooling": pooling,
    "batch normalization": batch_normalization,
    "dense": dense,
}


def input_fn() -> tf.data.Dataset:
    random = np.random.RandomState(0)
    maps = random.uniform(-1, 1, (STEPS * 8, 6, 6, 4)).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((maps, maps.mean(axis=(1, 2, 3)))).batch(8)


def make_model_fn(layer: Layer, use_resource: bool) -> Any:
    def model_fn(features: tf.Tensor, labels: tf.Tensor, mode: str) -> est.EstimatorSpec:
        training = mode == est.ModeKeys.TRAIN
        with v1.variable_scope("", use_resource=use_resource):
            with v1.variable_scope("layer"):
                maps = layer(features, training)
            rows = tf.reshape(maps, [-1, np.prod(maps.shape[1:])])
            with v1.variable_scope("last"):
                kernel = read("kernel", rows.shape[-1], 1)
                outputs = add_bias(tf.matmul(rows, kernel), tf.identity)
            loss = tf.reduce_mean((outputs[:, 0] - labels) ** 2)
            metrics = {"error": v1.metrics.mean_absolute_error(labels, outputs[:, 0])}
            with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
                # Larger steps amplify how XLA rounds, to more than a millionth in six of them.
                optimizer = v1.train.MomentumOptimizer(0.01, 0.9)
                train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    return model_fn


class SeeEveryStep(est.SessionRunHook):
    """Hook that keeps the steps out of loops."""

    def after_run(self, run_context: Any, run_values: Any) -> None:
        pass


class CountLoopSteps(est.SessionRunHook):
    """Hook that counts the steps that it does not see."""

    def __init__(self) -> None:
        self.steps = 0

    def steps_until_due(self, global_step: int) -> None:
        return None

    def after_loop(self, steps: int, loss: Any) -> None:
        self.steps += steps


def run_model(name: str, use_resource: bool, threads: int, xla: bool) -> dict[str, float]:
    """Returns the largest differences of a training and of an evaluation, loops against steps."""
    session = v1.ConfigProto(
        intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads
    )

    def make_estimator(use_xla: bool = False) -> est.Estimator:
        config = est.RunConfig(
            tf_random_seed=1, session_config=session, xla=use_xla, save_summary_steps=None
        )
        return est.Estimator(make_model_fn(MODELS[name], use_resource), tempfile.mkdtemp(), config)

    counted = CountLoopSteps()
    loops, steps = make_estimator(xla), make_estimator()
    loops.train(input_fn, [counted])
    steps.train(input_fn, [SeeEveryStep()])
    assert counted.steps > 0, f"{name} trains in no loop"
    pairs = [
        (loops.get_variable_value(variable), steps.get_variable_value(variable))
        for variable in steps.get_variable_names()
    ]
    results = steps.evaluate(input_fn), steps.evaluate(input_fn, hooks=[SeeEveryStep()])
    return {
        "training": find_difference(pairs),
        "evaluation": find_difference([(results[0][key], results[1][key]) for key in results[0]]),
    }


def find_difference(pairs: list[tuple[Any, Any]]) -> float:
    """Returns the largest difference, relative to values above 1."""
    return max(
        float(np.max(np.abs(np.subtract(a, b)) / np.maximum(1, np.abs(b)))) for a, b in pairs
    )


def run_models(models: list[str], threads: int, xla: bool) -> dict[str, dict[str, float]]:
    found = {}
    for name in models:
        for kind, use_resource in (("reference", False), ("resource", True)):
            found[f"{name}, {kind} variables"] = run_model(name, use_resource, threads, False)
        if xla:
            found[f"{name}, XLA"] = run_model(name, True, threads, True)
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        print(json.dumps(run_models(**json.loads(sys.argv[1]))))
