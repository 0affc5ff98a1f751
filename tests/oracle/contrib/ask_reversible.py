"""Questions about layers of tf.contrib.layers whose gradients are computed from their outputs."""

import tensorflow as tf
from asking import main, numbers, question, signature

layers = tf.contrib.layers


def dense(name="dense"):
    return lambda x: tf.tanh(tf.layers.dense(x, 4, name=name))


def gated(x, side):
    return tf.layers.dense(x, 4, name="gate") * side[0] + side[-1]


def halves():
    return tf.constant(numbers(3, 4)), tf.constant(numbers(3, 4, start=5))


def gradients(outputs, *inputs):
    """Returns the gradients of a loss of outputs to inputs and to all variables."""
    loss = tf.add_n([tf.reduce_sum(tf.square(one)) for one in outputs])
    names = [one.op.name for one in tf.trainable_variables()]
    found = tf.gradients(loss, list(inputs) + tf.trainable_variables())
    return {"loss": loss, "names": names, "gradients": found}


@question
def signatures():
    return {name: signature(getattr(layers, name)) for name in ("rev_block", "recompute_grad")}


@question
def one_layer():
    x1, x2 = halves()
    return gradients(layers.rev_block(x1, x2, dense(), dense("other")), x1, x2)


@question
def three_layers_of_one_function():
    x1, x2 = halves()
    y1, y2 = layers.rev_block(x1, x2, dense(), dense(), num_layers=3)
    return dict(gradients([y1, y2], x1, x2), y1=y1, y2=y2, names=[y1.dtype.name, y2.dtype.name])


@question
def functions_of_each_layer():
    x1, x2 = halves()
    f = [dense("a"), tf.identity]
    g = [lambda x: 2.0 * x, dense("b")]
    return gradients(layers.rev_block(x1, x2, f, g, num_layers=2), x1, x2)


@question
def side_inputs():
    x1, x2 = halves()
    side = [tf.constant(numbers(3, 4, start=2)), tf.constant(numbers(4, start=3))]
    outputs = layers.rev_block(x1, x2, gated, dense(), num_layers=2, f_side_input=side)
    return gradients(outputs, x1, x2, *side)


@question
def a_side_of_each():
    x1, x2 = halves()
    f_side, g_side = ([tf.constant(numbers(3, 4, start=start))] for start in (2, 9))
    outputs = layers.rev_block(x1, x2, gated, gated, 2, f_side_input=f_side, g_side_input=g_side)
    return gradients(outputs, x1, x2, *(f_side + g_side))


@question
def not_in_training():
    x1, x2 = halves()
    return gradients(layers.rev_block(x1, x2, dense(), dense(), 2, is_training=False), x1, x2)


@question
def one_output_in_the_loss():
    x1, x2 = halves()
    _, y2 = layers.rev_block(x1, x2, dense(), dense("other"), num_layers=2)
    return gradients([y2], x1, x2)


@question
def two_blocks():
    x1, x2 = halves()
    y1, y2 = layers.rev_block(x1, x2, dense(), dense())
    return gradients(layers.rev_block(y1, y2, dense(), dense()), x1, x2)


@question
def block_within_a_scope():
    x1, x2 = halves()
    with tf.variable_scope("encoder"):
        outputs = layers.rev_block(x1, x2, dense(), dense())
    return gradients(outputs, x1, x2)


@question
def too_few_functions():
    x1, x2 = halves()
    return {"y": layers.rev_block(x1, x2, [dense()], [dense()], num_layers=2)[0]}


@question
def recomputed():
    x1, _ = halves()

    @layers.recompute_grad
    def network(x):
        return tf.layers.dense(dense()(x), 2, name="last")

    with tf.variable_scope("network", use_resource=True):
        return gradients([network(x1)], x1)


@question
def recomputed_of_two_inputs_and_outputs():
    x1, x2 = halves()

    @layers.recompute_grad
    def network(x, y):
        return x * y, dense()(x)

    with tf.variable_scope("network", use_resource=True):
        return gradients(network(x1, x2), x1, x2)


@question
def recomputed_with_variables_that_are_references():
    x1, _ = halves()
    return {"y": layers.recompute_grad(dense())(x1)}


@question
def recomputed_knows_which_time_it_is():
    x1, _ = halves()

    def network(x, is_recomputing=False):
        return (2.0 if is_recomputing else 1.0) * tf.square(x)

    return gradients([layers.recompute_grad(network)(x1)], x1)


if __name__ == "__main__":
    main()
