"""Questions about tf.contrib.mixed_precision."""

import numpy as np
import tensorflow as tf
from asking import main, question, signature

mixed = tf.contrib.mixed_precision


def run_of(manager, finite):
    """Returns the factors after updates."""
    gradients = tf.placeholder_with_default(True, [])
    update = manager.update_loss_scale(gradients)
    seen = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for one in finite:
            session.run(update, {gradients: one})
            seen.append(float(session.run(manager.get_loss_scale())))
    return seen


@question
def signatures():
    names = ["ExponentialUpdateLossScaleManager", "FixedLossScaleManager", "LossScaleOptimizer"]
    return {name: signature(getattr(mixed, name)) for name in names}


@question
def a_fixed_factor():
    return {"seen": run_of(mixed.FixedLossScaleManager(8.0), [True, False])}


@question
def a_fixed_factor_below_one():
    return {"made": repr(mixed.FixedLossScaleManager(0.5))}


@question
def a_factor_that_grows_and_shrinks():
    manager = mixed.ExponentialUpdateLossScaleManager(16.0, 3, 2, 2.0, 0.5)
    finite = [True, True, True, True, False, True, True, True, False, False, False, True, False]
    return {"seen": run_of(manager, finite)}


@question
def a_factor_at_its_ends():
    return {
        "small": run_of(mixed.ExponentialUpdateLossScaleManager(1.5, 3, 1, 2.0, 0.5), [False] * 3),
        "large": run_of(mixed.ExponentialUpdateLossScaleManager(2e38, 1), [True, True]),
    }


@question
def a_step():
    weights = tf.Variable([1.0, 2.0])
    factor = tf.placeholder_with_default(1.0, [])
    optimizer = mixed.LossScaleOptimizer(
        tf.train.GradientDescentOptimizer(0.5), mixed.FixedLossScaleManager(4.0)
    )
    loss = tf.reduce_sum(tf.square(weights)) * factor
    step = tf.train.get_or_create_global_step()
    pairs = optimizer.compute_gradients(loss)
    operation = optimizer.apply_gradients(pairs, global_step=step)
    seen = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in (1.0, np.inf, 1.0):
            session.run(operation, {factor: value})
            seen.append([session.run(weights).tolist(), int(session.run(step))])
        gradient = session.run(pairs[0][0]).tolist()
    return {"seen": repr(seen), "gradient": gradient}


@question
def steps_of_sparse_gradients():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    optimizer = mixed.LossScaleOptimizer(
        tf.train.GradientDescentOptimizer(0.5), mixed.ExponentialUpdateLossScaleManager(8.0, 1)
    )
    operation = optimizer.minimize(tf.reduce_sum(tf.gather(table, [2, 0, 2])))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(operation)
        return {"seen": session.run(table)}


if __name__ == "__main__":
    main()
