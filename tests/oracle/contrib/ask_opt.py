"""Questions about tf.contrib.opt."""

import tensorflow as tf
from asking import differs, main, numbers, question
from optimizing import steps


def falling(step):
    return tf.train.exponential_decay(0.4, step, 1, 0.5, staircase=True)


@question
def nadam():
    return steps(lambda _: tf.contrib.opt.NadamOptimizer(0.1))


@question
def nadam_sparse():
    return steps(lambda _: tf.contrib.opt.NadamOptimizer(0.1), sparse=True)


@question
def lazy_adam():
    return steps(lambda _: tf.contrib.opt.LazyAdamOptimizer(0.1))


@question
def lazy_adam_sparse():
    return steps(lambda _: tf.contrib.opt.LazyAdamOptimizer(0.1), sparse=True)


@question
def adam_w():
    return steps(lambda _: tf.contrib.opt.AdamWOptimizer(0.01, 0.1), power=1)


@question
def adam_w_sparse():
    return steps(lambda _: tf.contrib.opt.AdamWOptimizer(0.01, 0.1), sparse=True, power=1)


@question
def momentum_w():
    return steps(
        lambda _: tf.contrib.opt.MomentumWOptimizer(0.01, 0.1, 0.9, use_nesterov=True), power=1
    )


@question
def extended():
    kind = tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.RMSPropOptimizer)
    return steps(lambda _: kind(weight_decay=0.01, learning_rate=0.1), power=1)


@differs("the original decays all variables: it forgets the list that minimize() is given")
@question
def decay_of_some_variables():
    v = tf.get_variable("v", initializer=numbers(4, 2))
    w = tf.get_variable("w", initializer=numbers(3))
    loss = tf.reduce_sum(v) + tf.reduce_sum(w)
    optimizer = tf.contrib.opt.MomentumWOptimizer(0.1, 0.1, 0.9)
    return [{"train_op": optimizer.minimize(loss, decay_var_list=[v])}, {"v": v, "w": w}]


@question
def lars():
    return steps(
        lambda step: tf.contrib.opt.LARSOptimizer(falling(step), weight_decay=0.01, eeta=0.5)
    )


@question
def lars_that_skips():
    return steps(
        lambda step: tf.contrib.opt.LARSOptimizer(falling(step), eeta=0.5, skip_list=["w"])
    )


@question
def lars_nesterov():
    return steps(
        lambda _: tf.contrib.opt.LARSOptimizer(0.2, 0.8, epsilon=0.1, use_nesterov=True, eeta=0.5)
    )


@question
def moving_average():
    made = []

    def optimizer(step):
        inner = tf.train.GradientDescentOptimizer(0.1)
        made.append(tf.contrib.opt.MovingAverageOptimizer(inner, 0.8, num_updates=step))
        return made[0]

    return steps(optimizer)


@question
def swapping_saver_comes_after_the_gradients():
    optimizer = tf.contrib.opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.1))
    return {"saver": str(optimizer.swapping_saver())}


if __name__ == "__main__":
    main()
