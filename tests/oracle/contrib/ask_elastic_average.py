"""Questions about averages of workers of tf.contrib.opt, with one worker."""

import os
import tempfile

import tensorflow as tf
from asking import main, numbers, question, signature
from trying import tried

opt = tf.contrib.opt
DEVICE = "/job:localhost/replica:0/task:0/cpu:0"


def trained(steps=7, saved=False, **arguments):
    """Variables after each step, the collections of variables, and the names that are saved."""
    with tf.Graph().as_default():
        getter = opt.ElasticAverageCustomGetter(worker_device=DEVICE)
        step = tf.train.create_global_step()
        with tf.variable_scope("", custom_getter=getter):
            v = tf.get_variable("v", initializer=tf.constant([1.0, 2.0]))
            u = tf.get_variable("u", initializer=tf.constant(numbers(2, 1)))
        loss = tf.reduce_sum(v**2) + 3 * tf.reduce_sum(u)
        inner = tf.train.GradientDescentOptimizer(0.1)
        optimizer = opt.ElasticAverageOptimizer(inner, 1, getter, **arguments)
        train_op = optimizer.minimize(loss, step)
        hook = optimizer.make_session_run_hook(True, 0)
        keys = ("variables", "trainable_variables", "local_variables")
        found = {key: sorted(one.op.name for one in tf.get_collection(key)) for key in keys}
        names = sorted({name for key in keys for name in found[key]} - {"global_step"})
        tensors = {one.op.name: one for one in tf.global_variables() + tf.local_variables()}
        saver = optimizer.swapping_saver() if saved else None
        with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
            for number in range(steps):
                session.run(train_op)
                for name in [*names, "global_step"]:
                    found[str(number) + " " + name] = session.run(tensors[name])
            if saved:
                path = os.path.join(tempfile.mkdtemp(), "model")
                saver.save(session._tf_sess(), path, write_meta_graph=False)
                found["saved"] = [name for name, _ in tf.train.list_variables(path)]
                found["saved v"] = tf.train.load_variable(path, "v")
    return found


@question
def exchanges():
    return trained(communication_period=3, moving_rate=0.2)


@question
def default_rates():
    return trained(communication_period=2)


@question
def own_pull():
    return trained(communication_period=2, moving_rate=0.3, rho=0.5)


@question
def swapped():
    return trained(steps=4, saved=True, communication_period=2, moving_rate=0.3)


@question
def averages():
    with tf.Graph().as_default():
        getter = opt.ModelAverageCustomGetter(worker_device=DEVICE)
        step = tf.train.create_global_step()
        with tf.variable_scope("", custom_getter=getter):
            v = tf.get_variable("v", initializer=tf.constant([1.0, 2.0]))
            u = tf.get_variable("u", initializer=tf.constant(numbers(2, 1)))
        loss = tf.reduce_sum(v**2) + 3 * tf.reduce_sum(u)
        inner = tf.train.GradientDescentOptimizer(0.1)
        optimizer = opt.ModelAverageOptimizer(inner, 1, True, getter, interval_steps=3)
        train_op = optimizer.minimize(loss, step)
        hook = optimizer.make_session_run_hook()
        keys = ("variables", "trainable_variables", "local_variables")
        found = {key: sorted(one.op.name for one in tf.get_collection(key)) for key in keys}
        tensors = {one.op.name: one for one in tf.global_variables() + tf.local_variables()}
        with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
            for number in range(7):
                session.run(train_op)
                for name, tensor in sorted(tensors.items()):
                    found[str(number) + " " + name] = session.run(tensor)
    return found


@question
def averages_without_a_step():
    getter = opt.ModelAverageCustomGetter(worker_device=DEVICE)
    with tf.variable_scope("", custom_getter=getter):
        v = tf.get_variable("v", initializer=tf.constant([1.0, 2.0]))
    inner = tf.train.GradientDescentOptimizer(0.1)
    optimizer = opt.ModelAverageOptimizer(inner, 1, True, getter)
    return {"refused": tried(optimizer.minimize, tf.reduce_sum(v))}


@question
def signatures():
    kinds = (
        opt.ElasticAverageOptimizer,
        opt.ElasticAverageCustomGetter,
        opt.ModelAverageOptimizer,
        opt.ModelAverageCustomGetter,
    )
    return {kind.__name__: signature(kind) for kind in kinds}


if __name__ == "__main__":
    main()
