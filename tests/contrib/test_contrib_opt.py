"""Optimizers of `tf.contrib.opt` on resource variables, SciPy's, and averages of two workers.

`test_contrib_as_original.py` compares their steps on reference variables with the original's.
"""

import threading

import numpy as np
import pytest
import tensorflow as tf

from estimator_train.launcher.network import find_free_addresses
from tf_contrib import opt

tf1 = tf.compat.v1
INITIAL = np.float32([[1.0, -2.0], [0.5, 3.0], [0.0, 1.5]])
GRADIENT = np.float32([[0.3, -0.1], [0.0, 0.2], [-0.4, 0.5]])
ROWS = [2, 0]


def train(create_optimizer, use_resource, is_sparse):
    """Returns the variable after each of three steps."""
    with tf.Graph().as_default(), tf1.Session() as session:
        variable = tf1.get_variable("v", initializer=INITIAL, use_resource=use_resource)
        gradient = tf.constant(GRADIENT)
        if is_sparse:
            gradient = tf.IndexedSlices(tf.gather(gradient, ROWS), tf.constant(ROWS), [3, 2])
        step = tf1.train.create_global_step()
        train_op = create_optimizer().apply_gradients([(gradient, variable)], step)
        session.run(tf1.global_variables_initializer())
        values = []
        for _ in range(3):
            session.run(train_op)
            values.append(session.run(variable))
        assert session.run(step) == 3
        return values


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize(
    "create_optimizer",
    [
        lambda: opt.NadamOptimizer(0.1),
        lambda: opt.LazyAdamOptimizer(0.1),
        lambda: opt.AdamWOptimizer(0.01, 0.1),
        lambda: opt.MomentumWOptimizer(0.01, 0.1, 0.9),
        lambda: opt.LARSOptimizer(0.8, weight_decay=0.01, eeta=0.02),
        lambda: opt.AdaMaxOptimizer(0.1),
        lambda: opt.AddSignOptimizer(0.1),
    ],
    ids=["nadam", "lazy_adam", "adam_w", "momentum_w", "lars", "ada_max", "add_sign"],
)
def test_resource_variables_take_the_steps_of_reference_variables(create_optimizer, is_sparse):
    reference, resource = (train(create_optimizer, kind, is_sparse) for kind in (False, True))
    assert not np.array_equal(resource[0], resource[1])
    np.testing.assert_allclose(resource, reference, rtol=1e-6)


def test_lars_does_not_scale_the_rate_of_zero_weights():
    with tf.Graph().as_default(), tf1.Session() as session:
        variable = tf1.get_variable("v", initializer=np.zeros(2, np.float32))
        optimizer = opt.LARSOptimizer(0.5, weight_decay=0.01)
        train_op = optimizer.apply_gradients([(tf.constant([1.0, -2.0]), variable)])
        session.run(tf1.global_variables_initializer())
        session.run(train_op)
        np.testing.assert_allclose(session.run(variable), [-0.5, 1.0], rtol=1e-6)


def minimize(build, **arguments):
    """Returns the variables x and y after SciPy's minimization."""
    with tf.Graph().as_default(), tf1.Session() as session:
        x = tf1.get_variable("x", initializer=np.float32([4.0, 2.0]))
        y = tf1.get_variable("y", initializer=np.float32(1.0))
        loss, more = build(x, y)
        optimizer = opt.ScipyOptimizerInterface(loss, **more, **arguments)
        session.run(tf1.global_variables_initializer())
        losses = []
        optimizer.minimize(session, fetches=[loss], loss_callback=losses.append)
        assert losses[-1] < losses[0]
        return session.run([x, y])


def test_scipy_minimizes_without_bounds():
    x, y = minimize(lambda x, y: (tf.reduce_sum((x - [1.0, 3.0]) ** 2) + (y + 2) ** 2, {}))
    np.testing.assert_allclose(x, [1.0, 3.0], atol=1e-4)
    np.testing.assert_allclose(y, -2.0, atol=1e-4)


def test_scipy_minimizes_within_bounds():
    def build(x, y):
        bounds = {x: ([2.0, -np.inf], [np.inf, 2.5]), y: (0.0, None)}
        return tf.reduce_sum((x - [1.0, 3.0]) ** 2) + (y + 2) ** 2, {"var_to_bounds": bounds}

    x, y = minimize(build)
    np.testing.assert_allclose(x, [2.0, 2.5], atol=1e-5)
    np.testing.assert_allclose(y, 0.0, atol=1e-5)


def test_scipy_minimizes_under_constraints():
    """Finds the point of a line and a half-plane that is nearest to the origin."""

    def build(x, y):
        loss = tf.reduce_sum(x**2) + y**2
        return loss, {"equalities": [x[0] + x[1] - 2.0], "inequalities": [x[0] - 1.5]}

    x, y = minimize(build, options={"maxiter": 100})
    np.testing.assert_allclose(x, [1.5, 0.5], atol=1e-4)
    np.testing.assert_allclose(y, 0.0, atol=1e-4)


def test_workers_whose_variables_are_averaged_train_in_step():
    """They share a parameter server, where replica_device_setter would place their local steps."""
    rate, interval, steps = 0.05, 2, 40
    ps, *workers = find_free_addresses(3)
    spec = tf.train.ClusterSpec({"ps": [ps], "worker": workers})
    servers = [
        tf.distribute.Server(spec, job, index)
        for job, index in (("ps", 0), ("worker", 0), ("worker", 1))
    ]
    initialized, results = threading.Event(), {}

    def work(index):
        device = f"/job:worker/task:{index}"
        setter = tf1.train.replica_device_setter(worker_device=device, cluster=spec)
        with tf.Graph().as_default(), tf1.device(setter):
            step = tf1.train.create_global_step()
            getter = opt.ModelAverageCustomGetter(device)
            with tf1.variable_scope("model", custom_getter=getter):
                variable = tf1.get_variable("v", initializer=INITIAL)
            optimizer = opt.ModelAverageOptimizer(
                tf1.train.GradientDescentOptimizer(rate), 2, index == 0, getter, interval
            )
            train_op = optimizer.minimize((index + 1) * tf.nn.l2_loss(variable), step)
            with tf1.Session(servers[1 + index].target) as session:
                if index == 0:
                    session.run(tf1.global_variables_initializer())
                    initialized.set()
                assert initialized.wait(300)
                session.run([tf1.local_variables_initializer()])
                session.run(optimizer.get_init_op())
                for _ in range(steps):
                    session.run(train_op)
                results[index] = session.run([step, variable])

    threads = [threading.Thread(target=work, args=(index,), daemon=True) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    mean_factor = ((1 - rate) ** interval + (1 - 2 * rate) ** interval) / 2
    for index in range(2):
        averages, variable = results[index]
        assert averages == steps / interval
        np.testing.assert_allclose(variable, INITIAL * mean_factor**averages, rtol=1e-4)
