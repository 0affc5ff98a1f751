"""Adagrad's updates of rows in a loop: the numbers of the kernels, and steps that keep these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from estimator_train.engine.loops.graph_loop import build_loop

v1 = tf.compat.v1
ROWS, STEPS = 50, 5


class Repeating(v1.train.AdagradOptimizer):
    """Adagrad that updates a row once for each of its gradients."""

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._resource_apply_sparse(grad, handle, indices)


def minimize_by_keras(loss: tf.Tensor, table: tf.Variable) -> tf.Operation:
    return tf_keras.optimizers.legacy.Adagrad(0.3).get_updates(loss, [table])[0]


def minimize_by_tensorflow1(loss: tf.Tensor, table: tf.Variable) -> tf.Operation:
    return v1.train.AdagradOptimizer(0.3).minimize(loss, var_list=[table])


def minimize_and_limit(loss: tf.Tensor, table: tf.Variable) -> tf.Operation:
    with tf.control_dependencies([minimize_by_keras(loss, table)]):
        return table.assign(tf.clip_by_norm(table, 1.0, axes=[1])).op


def minimize_twice(loss: tf.Tensor, table: tf.Variable) -> tf.Operation:
    return tf.group(minimize_by_keras(loss, table), minimize_by_tensorflow1(loss, table))


def minimize_repeating(loss: tf.Tensor, table: tf.Variable) -> tf.Operation:
    return Repeating(0.3).minimize(loss, var_list=[table])


def train(
    minimize: Callable[..., tf.Operation], width: int, dtype: tf.DType, in_loop: bool
) -> tuple[list[np.ndarray], set[str]]:
    """Trains some steps on rows of which several repeat.

    Returns:
      The values of all variables, and the types of operations in the loop.
    """
    random = np.random.default_rng(1)
    table_rows = random.normal(size=[ROWS, width])
    # Gradients of many magnitudes.
    weights = 10.0 ** random.uniform(-4, 2, [STEPS, 30, width])
    with tf.Graph().as_default() as graph, v1.Session() as session:
        table = v1.get_variable("table", dtype=dtype, initializer=table_rows.astype(dtype.name))
        step = v1.get_variable("step", dtype=tf.int64, initializer=np.int64(0))
        ids = tf.constant(random.integers(0, ROWS, [STEPS, 30]))[step]
        scale = tf.constant(weights.astype(dtype.name))[step]
        loss = tf.reduce_sum(tf.gather(table, ids) ** 2 * scale)
        with tf.control_dependencies([minimize(loss, table)]):
            train_op = step.assign_add(1).op
        loop = build_loop(train_op, loss) if in_loop else None
        session.run(v1.global_variables_initializer())
        if loop:
            assert loop.run(session, STEPS)[0] == STEPS
        for _ in range(0 if loop else STEPS):
            session.run(train_op)
        functions = graph.as_graph_def().library.function
        types = {node.op for function in functions for node in function.node_def}
        return session.run(v1.global_variables()), types


@pytest.mark.parametrize("width", [1, 3, 16, 33, 128, 129])
@pytest.mark.parametrize("minimize", [minimize_by_keras, minimize_by_tensorflow1])
def test_a_loop_has_the_numbers_of_single_steps(
    minimize: Callable[..., tf.Operation], width: int
) -> None:
    looped, types = train(minimize, width, tf.float32, in_loop=True)
    single, _ = train(minimize, width, tf.float32, in_loop=False)
    assert len(looped) >= 3
    for values, expected in zip(looped, single, strict=True):
        np.testing.assert_array_equal(values, expected)
    has_kernel = any("SparseApply" in kind for kind in types)
    replaced = (3, 16, 33, 128) if minimize is minimize_by_keras else (16, 128)
    assert has_kernel == (width not in replaced)


@pytest.mark.parametrize(
    ("minimize", "dtype"),
    [
        (minimize_by_keras, tf.float64),
        (minimize_and_limit, tf.float32),
        (minimize_twice, tf.float32),
        (minimize_repeating, tf.float32),
    ],
)
def test_the_kernel_stays_if_a_replacement_might_differ(
    minimize: Callable[..., tf.Operation], dtype: tf.DType
) -> None:
    _, types = train(minimize, 16, dtype, in_loop=True)
    assert any("SparseApply" in kind for kind in types)
    assert "ResourceScatterUpdate" not in types
