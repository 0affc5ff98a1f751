"""BERT-base without pretrained weights: first step, and restart from a checkpoint of 1.3 GB."""

import tempfile
import time
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks.apis import Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.meters import make_step_clock


class _Sizes(NamedTuple):
    """Sizes of a BERT: the numbers of layers, of a layer's units, of heads, and of tokens."""

    layers: int
    units: int
    heads: int
    tokens: int


_BASE, _TINY = _Sizes(12, 768, 12, 30_522), _Sizes(2, 32, 2, 100)
_LENGTH, _POSITIONS, _CLASSES, _STEPS = 32, 512, 2, 2


def _make_dense(name: str, value: Any, units: int) -> Any:
    import tensorflow as tf

    v1 = tf.compat.v1
    with v1.variable_scope(name):
        normal = v1.truncated_normal_initializer(stddev=0.02)
        kernel = v1.get_variable("kernel", [value.shape[-1], units], initializer=normal)
        bias = v1.get_variable("bias", [units], initializer=v1.zeros_initializer())
        return tf.matmul(value, kernel) + bias


def _normalize(value: Any) -> Any:
    """Normalizes the units of each token to mean 0 and variance 1, then scales and shifts them."""
    import tensorflow as tf

    v1 = tf.compat.v1
    with v1.variable_scope("LayerNorm"):
        shape = value.shape[-1:]
        shift = v1.get_variable("beta", shape, initializer=v1.zeros_initializer())
        scale = v1.get_variable("gamma", shape, initializer=v1.ones_initializer())
        mean, variance = tf.nn.moments(value, [-1], keepdims=True)
        return tf.nn.batch_normalization(value, mean, variance, shift, scale, 1e-12)


def _attend(value: Any, heads: int) -> Any:
    """Returns the sum of all tokens' values, weighted by attention (arXiv:1706.03762, eq. 1)."""
    import tensorflow as tf

    size = value.shape[-1] // heads

    def project(name: str) -> Any:
        rows = tf.reshape(_make_dense(name, value, value.shape[-1]), [-1, _LENGTH, heads, size])
        return tf.transpose(rows, [0, 2, 1, 3])

    query, key, values = project("query"), project("key"), project("value")
    weights = tf.nn.softmax(tf.matmul(query, key, transpose_b=True) / size**0.5)
    rows = tf.transpose(tf.matmul(weights, values), [0, 2, 1, 3])
    return tf.reshape(rows, [-1, value.shape[-1]])


def _encode(tokens: Any, sizes: _Sizes) -> Any:
    """Returns a row of units for each token of each text."""
    import tensorflow as tf

    v1 = tf.compat.v1
    normal = v1.truncated_normal_initializer(stddev=0.02)
    with v1.variable_scope("embeddings"):
        table = v1.get_variable("word", [sizes.tokens, sizes.units], initializer=normal)
        positions = v1.get_variable("position", [_POSITIONS, sizes.units], initializer=normal)
        kinds = v1.get_variable("token_type", [2, sizes.units], initializer=normal)
        value = tf.gather(table, tokens) + positions[:_LENGTH] + kinds[0]
        value = _normalize(tf.reshape(value, [-1, sizes.units]))
    for number in range(sizes.layers):
        with v1.variable_scope(f"layer_{number}"):
            with v1.variable_scope("attention"):
                attended = _make_dense("output", _attend(value, sizes.heads), sizes.units)
                value = _normalize(value + attended)
            inner = tf.nn.gelu(_make_dense("intermediate", value, 4 * sizes.units))
            with v1.variable_scope("output"):
                value = _normalize(value + _make_dense("dense", inner, sizes.units))
    return tf.reshape(value, [-1, _LENGTH, sizes.units])


def _make_train_op(loss: Any) -> Any:
    """Returns an update by Adam with weight decay, of which each variable has operations."""
    import tensorflow as tf

    v1 = tf.compat.v1
    variables = v1.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
    updates = []
    for variable, gradient in zip(variables, gradients, strict=True):
        zeros = v1.zeros_initializer()
        mean, square = (
            v1.get_variable(f"{variable.op.name}/{name}", variable.shape, None, zeros, None, False)
            for name in ("adam_m", "adam_v")
        )
        next_mean = 0.9 * mean + tf.multiply(0.1, gradient)
        next_square = 0.999 * square + 0.001 * tf.square(gradient)
        update = next_mean / (tf.sqrt(next_square) + 1e-6) + 0.01 * variable
        updates += [
            v1.assign(variable, variable - 2e-5 * update),
            v1.assign(mean, next_mean),
            v1.assign(square, next_square),
        ]
    return tf.group(*updates, v1.assign_add(v1.train.get_global_step(), 1))


def _make_estimator(api: ModuleType, model_dir: str, sizes: _Sizes) -> Any:
    import tensorflow as tf

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        pooled = _make_dense("pooler", _encode(features, sizes)[:, 0], sizes.units)
        logits = _make_dense("classes", tf.tanh(pooled), _CLASSES)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )
        return api.EstimatorSpec(mode, loss=loss, train_op=_make_train_op(loss))

    return api.Estimator(model_fn, model_dir, config=api.RunConfig(tf_random_seed=1))


def _make_input() -> Any:
    import numpy as np
    import tensorflow as tf

    rows = np.zeros((8, _LENGTH), np.int32), np.zeros(8, np.int32)
    return tf.data.Dataset.from_tensor_slices(rows).repeat().batch(1, drop_remainder=True)


def _measure(apis: Apis, quick: bool) -> dict[str, float]:
    """Trains, and trains again from the checkpoint; returns seconds to the first step by row."""
    with tempfile.TemporaryDirectory() as model_dir:

        def train() -> float:
            clock = make_step_clock()
            estimator = _make_estimator(apis.estimator, model_dir, _TINY if quick else _BASE)
            start = time.perf_counter()
            estimator.train(_make_input, hooks=[clock], steps=_STEPS)
            return clock.first - start

        return {"bert_start": train(), "bert_restart": train()}


def _benchmark(name: str, description: str, goals: dict[str, float]) -> Benchmark:
    return Benchmark(
        name,
        f"BERT-base, {_LENGTH} tokens, batch 1: from the call of train to its first step"
        + description,
        "s",
        compare_apis(_measure),
        less_is_better=True,
        goals=goals,
        job="bert",
    )


BENCHMARKS = (
    _benchmark("bert_start", "", {}),
    _benchmark("bert_restart", ", restart", {ORIGINAL: 3.0}),
)
