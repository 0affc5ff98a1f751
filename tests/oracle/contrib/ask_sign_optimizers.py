"""Questions about AdaMax, signs and clipping of tf.contrib.opt, and tf.contrib.optimizer_v2."""

import tensorflow as tf
from asking import main, numbers, question
from optimizing import steps

opt = tf.contrib.opt


@question
def ada_max():
    return steps(lambda _: opt.AdaMaxOptimizer(0.1))


@question
def ada_max_sparse():
    return steps(lambda _: opt.AdaMaxOptimizer(0.1), sparse=True)


@question
def power_sign():
    return steps(lambda _: opt.PowerSignOptimizer(0.1))


@question
def power_sign_without_a_base():
    return steps(lambda _: opt.PowerSignOptimizer(0.1, base=2.0, beta=0.5))


@question
def add_sign():
    return steps(lambda _: opt.AddSignOptimizer(0.1))


@question
def add_sign_sparse():
    return steps(lambda _: opt.AddSignOptimizer(0.1, alpha=0.5), sparse=True)


@question
def sign_with_a_decay():
    def make(step):
        return opt.AddSignOptimizer(
            0.1, sign_decay_fn=lambda s: 1.0 / (1.0 + tf.cast(s, tf.float32))
        )

    return steps(make)


@question
def variable_clipping():
    with tf.variable_scope("clipped"):
        v = tf.get_variable("v", initializer=numbers(4, 2, scale=3))
    inner = tf.train.GradientDescentOptimizer(0.1)
    clipping = opt.VariableClippingOptimizer(inner, {v: [1]}, 1.0)
    train_op = clipping.minimize(tf.reduce_sum(v**2))
    return [{"train_op": train_op}, {"v": v}] * 2


@question
def variable_clipping_sparse():
    v = tf.get_variable("v", initializer=numbers(4, 2, scale=3))
    inner = tf.train.GradientDescentOptimizer(0.1)
    clipping = opt.VariableClippingOptimizer(inner, {v: [1]}, 1.0)
    train_op = clipping.minimize(tf.reduce_sum(tf.nn.embedding_lookup(v, [0, 2]) ** 2))
    return [{"train_op": train_op}, {"v": v}] * 2


def changing_rows(optimizer):
    """A variable of which each step reads another row."""
    v = tf.get_variable("v", initializer=numbers(3, 2))
    step = tf.train.get_or_create_global_step()
    rows = tf.nn.embedding_lookup(v, [tf.cast(step % 2, tf.int32)])
    train_op = optimizer.minimize(tf.reduce_sum(rows**2), step)
    return [{"train_op": train_op}, {"v": v}] * 4


@question
def ada_max_of_changing_rows():
    return changing_rows(opt.AdaMaxOptimizer(0.1))


@question
def add_sign_of_changing_rows():
    return changing_rows(opt.AddSignOptimizer(0.1))


@question
def power_sign_of_changing_rows():
    return changing_rows(opt.PowerSignOptimizer(0.1))


def of_v2(name, *arguments):
    return steps(lambda _: getattr(tf.contrib.optimizer_v2, name)(*arguments))


@question
def adam_of_v2():
    return of_v2("AdamOptimizer", 0.1)


@question
def momentum_of_v2():
    return of_v2("MomentumOptimizer", 0.1, 0.9)


@question
def gradient_descent_of_v2():
    return of_v2("GradientDescentOptimizer", 0.1)


if __name__ == "__main__":
    main()
