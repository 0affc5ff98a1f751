"""Steps of an optimizer."""

import tensorflow as tf
from asking import numbers


def steps(optimizer, sparse=False, power=3, count=4):
    """Returns a variable's values after each step, and the optimizer's slots at the end.

    Where weights decay the power is 1: the original does not say whether gradients are taken
    before that or after.
    """
    v = tf.get_variable("v", initializer=numbers(4, 2))
    w = tf.get_variable("w", initializer=numbers(3, start=5))
    if sparse:
        loss = tf.reduce_sum(tf.nn.embedding_lookup(v, [2, 0, 2]) ** power)
    else:
        loss = tf.reduce_sum(v**power) + 2 * tf.reduce_sum(w)
    step = tf.train.get_or_create_global_step()
    train_op = optimizer(step).minimize(loss, step)
    slots = {variable.op.name: variable for variable in tf.global_variables()}
    return [{"train_op": train_op}, {"v": v, "w": w}] * count + [slots]
