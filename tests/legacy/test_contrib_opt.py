"""Optimizers of `tf.contrib.opt`: three steps, compared with the same steps in NumPy."""

import threading

import numpy as np
import pytest
import tensorflow as tf

from estimator_train.launcher.ports import find_free_addresses
from estimator_train.legacy.contrib import opt

tf1 = tf.compat.v1
STEPS = 3
INITIAL = np.float32([[1.0, -2.0], [0.5, 3.0], [0.0, 1.5]])
GRADIENT = np.float32([[0.3, -0.1], [0.0, 0.2], [-0.4, 0.5]])
ROWS = [2, 0]
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


def train(create_optimizer, use_resource, rows=None):
    """Returns the variable after STEPS steps; with `rows`, the gradient is sparse."""
    with tf.Graph().as_default(), tf1.Session() as session:
        variable = tf1.get_variable("v", initializer=INITIAL, use_resource=use_resource)
        gradient = tf.constant(GRADIENT)
        if rows is not None:
            gradient = tf.IndexedSlices(tf.gather(gradient, rows), tf.constant(rows), [3, 2])
        step = tf1.train.create_global_step()
        train_op = create_optimizer(step).apply_gradients([(gradient, variable)], step)
        session.run(tf1.global_variables_initializer())
        for _ in range(STEPS):
            session.run(train_op)
        assert session.run(step) == STEPS
        return session.run(variable)


def adam(rate, nesterov=False, decay=0.0, rows=slice(None), lazy=False):
    """Computes Adam's rule (Kingma and Ba, 2014) with the changes of the variants."""
    value, m, v = INITIAL.astype(np.float64), np.zeros([3, 2]), np.zeros([3, 2])
    gradient = np.zeros([3, 2])
    gradient[rows] = GRADIENT[rows]
    moved_rows = rows if lazy else slice(None)
    for t in range(1, STEPS + 1):
        value[rows] -= decay * value[rows]
        m[moved_rows] = BETA1 * m[moved_rows] + (1 - BETA1) * gradient[moved_rows]
        v[moved_rows] = BETA2 * v[moved_rows] + (1 - BETA2) * gradient[moved_rows] ** 2
        direction = BETA1 * m + (1 - BETA1) * gradient if nesterov else m
        corrected_rate = rate * np.sqrt(1 - BETA2**t) / (1 - BETA1**t)
        value[rows] -= (corrected_rate * direction / (np.sqrt(v) + EPSILON))[rows]
    return value


def momentum(rate, decay):
    value, accumulated = INITIAL.astype(np.float64), np.zeros([3, 2])
    for _ in range(STEPS):
        value -= decay * value
        accumulated = 0.9 * accumulated + GRADIENT
        value -= rate * accumulated
    return value


def lars(rates, decay=0.01, share=0.02):
    """Computes LARS (You, Gitman and Ginsburg, 2017); the rate is part of the accumulator."""
    value, accumulated = INITIAL.astype(np.float64), np.zeros([3, 2])
    for rate in rates:
        weight, length = np.linalg.norm(value), np.linalg.norm(GRADIENT)
        local_rate = share * weight / (length + decay * weight)
        accumulated = 0.9 * accumulated + rate * local_rate * (GRADIENT + decay * value)
        value -= accumulated
    return value


def decaying_rate(step):
    """Returns the rates 0.8, 0.4, 0.2."""
    return tf1.train.exponential_decay(0.8, step, 1, 0.5, staircase=True)


MomentumWithDecay = opt.extend_with_decoupled_weight_decay(tf1.train.MomentumOptimizer)
CASES = {
    "nadam": (lambda _: opt.NadamOptimizer(0.1), adam(0.1, nesterov=True)),
    "adam_w": (lambda _: opt.AdamWOptimizer(0.01, 0.1), adam(0.1, decay=0.01)),
    "momentum_w": (lambda _: opt.MomentumWOptimizer(0.01, 0.1, 0.9), momentum(0.1, 0.01)),
    "extended": (lambda _: MomentumWithDecay(0.01, 0.1, 0.9), momentum(0.1, 0.01)),
    "lars": (
        lambda step: opt.LARSOptimizer(decaying_rate(step), weight_decay=0.01, eeta=0.02),
        lars([0.8, 0.4, 0.2]),
    ),
    "lars_skipped": (
        lambda _: opt.LARSOptimizer(0.1, 0.9, weight_decay=0.01, skip_list=["v"]),
        momentum(0.1, 0.0),
    ),
}


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_optimizers_apply_dense_gradients_as_recorded(name, use_resource):
    create_optimizer, expected = CASES[name]
    np.testing.assert_allclose(train(create_optimizer, use_resource), expected, rtol=1e-5)


SPARSE_CASES = {
    "lazy_adam": (lambda _: opt.LazyAdamOptimizer(0.1), adam(0.1, rows=ROWS, lazy=True)),
    "nadam": (lambda _: opt.NadamOptimizer(0.1), adam(0.1, nesterov=True, rows=ROWS)),
}


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("name", SPARSE_CASES)
def test_optimizers_apply_sparse_gradients_as_recorded(name, use_resource):
    create_optimizer, expected = SPARSE_CASES[name]
    np.testing.assert_allclose(train(create_optimizer, use_resource, ROWS), expected, rtol=1e-5)


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
                assert initialized.wait(30)
                session.run([tf1.local_variables_initializer()])
                session.run(optimizer.get_init_op())
                for _ in range(steps):
                    session.run(train_op)
                results[index] = session.run([step, variable])

    threads = [threading.Thread(target=work, args=(index,), daemon=True) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    mean_factor = ((1 - rate) ** interval + (1 - 2 * rate) ** interval) / 2
    for index in range(2):
        averages, variable = results[index]
        assert averages == steps / interval
        np.testing.assert_allclose(variable, INITIAL * mean_factor**averages, rtol=1e-4)
