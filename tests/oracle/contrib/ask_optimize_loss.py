"""Questions about tf.contrib.layers.optimize_loss."""

import tensorflow as tf
from asking import main, numbers, question, signature

optimize_loss = tf.contrib.layers.optimize_loss


def simple():
    """Returns a loss, two variables and the step."""
    v = tf.get_variable("v", initializer=numbers(2, 2))
    w = tf.get_variable("w", initializer=numbers(3))
    loss = tf.reduce_sum(v**2) + 3 * tf.reduce_sum(w)
    return tf.identity(loss, "loss"), v, w, tf.train.get_or_create_global_step()


def steps(train_op, count=2):
    """Returns all variables after each step; a loss would be read while a step changes them."""
    kept = {variable.op.name: variable for variable in tf.global_variables()}
    about = {"summaries": summaries(), "name": train_op.name}
    return [about] + [{"step": train_op.op}, kept] * count


def summaries():
    """Returns the tags of scalar and histogram summaries, with the names of their operations."""
    found = []
    for one in tf.get_collection(tf.GraphKeys.SUMMARIES):
        kind = "histogram" if "Histogram" in one.op.type else "scalar"
        tag = tf.get_static_value(one.op.inputs[0])
        found.append(kind + " " + tag.item().decode() + " " + one.op.name)
    return sorted(found)


def asked(optimizer="SGD", rate=0.1, **arguments):
    loss, _, _, step = simple()
    return steps(optimize_loss(loss, step, rate, optimizer, **arguments))


@question
def signatures():
    kinds = tf.contrib.layers.OPTIMIZER_CLS_NAMES
    return {
        "optimize_loss": signature(optimize_loss),
        "kinds": sorted(kinds),
        "summaries": tf.contrib.layers.OPTIMIZER_SUMMARIES,
    }


@question
def sgd():
    return asked()


@question
def by_name():
    loss, _, _, step = simple()
    names = sorted(tf.contrib.layers.OPTIMIZER_CLS_NAMES)
    ops = [optimize_loss(loss, step, 0.1, name, name="o_" + name) for name in names]
    return [{"loss": op} for op in ops] + [{one.op.name: one for one in tf.global_variables()}]


@question
def by_class():
    return asked(tf.train.AdagradOptimizer)


@question
def by_object():
    return asked(tf.train.MomentumOptimizer(0.1, 0.5))


@question
def by_object_and_no_rate():
    return asked(tf.train.MomentumOptimizer(0.1, 0.5), None)


@question
def by_function():
    return asked(lambda rate: tf.train.MomentumOptimizer(rate, 0.5))


@question
def by_function_and_no_rate():
    return asked(lambda: tf.train.MomentumOptimizer(0.1, 0.5), None)


@question
def every_summary():
    kinds = ["learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm"]
    return asked(summaries=kinds, clip_gradients=0.5)


@question
def values_of_summaries():
    """Returns the norms of single gradients are of those that are clipped."""
    kinds = ["gradient_norm", "global_gradient_norm"]
    asked(summaries=kinds, clip_gradients=0.5)
    made = tf.get_collection(tf.GraphKeys.SUMMARIES)
    return {one.op.name: one.op.inputs[1] for one in made}


@question
def few_summaries():
    return asked(summaries=["learning_rate", "gradient_norm"])


@question
def no_summaries():
    return asked(summaries=[], clip_gradients=0.5)


@question
def one_summary():
    return asked(summaries=["loss"], clip_gradients=0.5)


@question
def an_unknown_summary():
    return asked(summaries=["losses"])


@question
def decay():
    def decayed(rate, step):
        return tf.train.exponential_decay(rate, step, 1, 0.5)

    return asked(learning_rate_decay_fn=decayed, name="mine")


@question
def decay_of_no_rate():
    made = {"learning_rate_decay_fn": lambda rate, step: rate}
    return asked(tf.train.GradientDescentOptimizer(0.1), None, **made)


@question
def rate_as_a_tensor():
    return asked(rate=tf.constant(0.2))


@question
def rate_as_a_vector():
    return asked(rate=tf.constant([0.2]))


@question
def rate_below_zero():
    return asked(rate=-0.1)


@question
def rate_of_a_wrong_type():
    return asked(rate="0.1")


@question
def rate_as_a_whole_number():
    return asked(rate=1)


@question
def no_rate():
    return asked(rate=None)


@question
def clipped():
    return asked(clip_gradients=1.5)


@question
def clipped_by_a_whole_number():
    return asked(clip_gradients=1)


@question
def clipped_by_a_function():
    def clip(pairs):
        return [(tf.clip_by_value(gradient, -0.5, 0.5), variable) for gradient, variable in pairs]

    return asked(clip_gradients=clip)


@question
def clipped_by_a_word():
    return asked(clip_gradients="1.5")


@question
def multiplied_by_name():
    return asked(gradient_multipliers={"v:0": 0.5, "w": 2.0, "other": 2.0})


@question
def multiplied_by_variable():
    loss, v, w, step = simple()
    made = {"gradient_multipliers": {v: 0.0, w: 2.0}, "clip_gradients": 1.0}
    return steps(optimize_loss(loss, step, 0.1, "SGD", **made))


@question
def some_variables():
    loss, v, _, step = simple()
    return steps(optimize_loss(loss, step, 0.1, "SGD", variables=[v]))


@question
def no_variables():
    return asked(variables=[])


@question
def nothing_is_trained():
    step = tf.train.get_or_create_global_step()
    return {"loss": optimize_loss(tf.constant(1.0), step, 0.1, "SGD")}


@question
def rows_of_gradients():
    v = tf.get_variable("v", initializer=numbers(4, 2))
    loss = tf.reduce_sum(tf.nn.embedding_lookup(v, [2, 0]) ** 2)
    kinds = tf.contrib.layers.OPTIMIZER_SUMMARIES
    step = tf.train.get_or_create_global_step()
    made = {"gradient_multipliers": {"v:0": 0.5}, "clip_gradients": 1.0, "summaries": kinds}
    return steps(optimize_loss(loss, step, 0.1, "SGD", **made))


@question
def updates_of_the_collection():
    loss, _, _, step = simple()
    count = tf.get_variable("count", initializer=0.0, trainable=False)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(count, 1.0))
    return steps(optimize_loss(loss, step, 0.1, "SGD"))


@question
def updates_that_are_given():
    loss, _, _, step = simple()
    count = tf.get_variable("count", initializer=0.0, trainable=False)
    other = tf.get_variable("other", initializer=0.0, trainable=False)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(count, 1.0))
    return steps(optimize_loss(loss, step, 0.1, "SGD", update_ops=[tf.assign_add(other, 1.0)]))


@question
def no_updates():
    loss, _, _, step = simple()
    count = tf.get_variable("count", initializer=0.0, trainable=False)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(count, 1.0))
    return steps(optimize_loss(loss, step, 0.1, "SGD", update_ops=[]))


@question
def step_that_is_not_counted():
    return asked(increment_global_step=False)


@question
def step_of_the_graph():
    loss, _, _, _ = simple()
    return steps(optimize_loss(loss, None, 0.1, "SGD"))


@question
def step_that_nobody_made():
    v = tf.get_variable("v", initializer=numbers(2, 2))
    return steps(optimize_loss(tf.reduce_sum(v), None, 0.1, "SGD"))


@question
def no_step_and_decay():
    v = tf.get_variable("v", initializer=numbers(2, 2))
    made = {"learning_rate_decay_fn": lambda rate, step: rate}
    return steps(optimize_loss(tf.reduce_sum(v), None, 0.1, "SGD", **made))


@question
def no_step_that_is_counted():
    v = tf.get_variable("v", initializer=numbers(2, 2))
    return steps(optimize_loss(tf.reduce_sum(v), None, 0.1, "SGD", increment_global_step=False))


@question
def loss_that_is_no_number():
    v = tf.get_variable("v", initializer=numbers(2, 2))
    step = tf.train.get_or_create_global_step()
    return steps(optimize_loss(v * 2.0, step, 0.1, "SGD"))


@question
def an_unknown_optimizer():
    return asked("Sgd")


@question
def an_optimizer_of_a_wrong_type():
    return asked(3)


@question
def a_function_of_no_optimizer():
    return asked(lambda rate: rate)


@question
def twice():
    loss, v, w, step = simple()
    first = optimize_loss(loss, step, 0.1, "SGD", variables=[v])
    made = {"variables": [w], "increment_global_step": False}
    second = optimize_loss(loss, step, 0.2, "SGD", **made)
    return steps(tf.add(first, second))


@question
def noise_that_is_nothing():
    return asked(gradient_noise_scale=0.0)


@question
def within_a_scope():
    loss, _, _, step = simple()
    with tf.variable_scope("outer"):
        return steps(optimize_loss(loss, step, 0.1, "Adam"))


if __name__ == "__main__":
    main()
