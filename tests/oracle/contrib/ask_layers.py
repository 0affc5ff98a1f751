"""Questions about the layers of tf.contrib.layers that are not about pictures."""

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature

layers = tf.contrib.layers


def named(output, **more):
    """Returns a layer's output with its name and the shares of the loss that it left."""
    shares = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    return dict(
        {"output": output, "name": output.name, "shape": str(output.shape)},
        losses=[share.name.split("/Regularizer/")[-1] for share in shares],
        shares=[tf.identity(share) for share in shares],
        **more,
    )


def members(*collections):
    return [" ".join(one.name for one in tf.get_collection(key)) for key in collections]


@question
def signatures():
    names = "bias_add bow_encoder dropout embed_sequence flatten fully_connected linear maxout "
    names += "legacy_fully_connected one_hot_encoding relu relu6 repeat softmax stack unit_norm "
    names += "apply_regularization l1_regularizer l2_regularizer l1_l2_regularizer sum_regularizer "
    names += "xavier_initializer xavier_initializer_conv2d variance_scaling_initializer"
    return {name: signature(getattr(layers, name)) for name in names.split()}


@question
def dense():
    return named(layers.fully_connected(numbers(3, 4), 2))


@question
def dense_of_three_dimensions():
    x = tf.placeholder_with_default(numbers(2, 3, 4), [None, 3, 4])
    return named(layers.fully_connected(x, 2, activation_fn=None))


@question
def dense_and_its_arguments():
    output = layers.fully_connected(
        numbers(3, 4),
        2,
        activation_fn=tf.nn.tanh,
        weights_initializer=tf.ones_initializer(),
        weights_regularizer=layers.l2_regularizer(0.1),
        biases_initializer=tf.constant_initializer(0.3),
        biases_regularizer=layers.l1_regularizer(0.2),
        variables_collections={"weights": ["mine"], "biases": ["yours"]},
        outputs_collections=["out", "put"],
        scope="dense",
    )
    return named(output, members=members("mine", "yours", "out", "put"))


@question
def dense_without_biases():
    return named(layers.fully_connected(numbers(3, 4), 2, biases_initializer=None))


@question
def dense_with_a_normalizer():
    output = layers.fully_connected(
        numbers(3, 4),
        2,
        normalizer_fn=layers.batch_norm,
        normalizer_params={"scale": True, "is_training": True},
        weights_regularizer=layers.l1_regularizer(0.1),
    )
    return named(output, updates=members(tf.GraphKeys.UPDATE_OPS))


@question
def dense_twice_and_again():
    x = tf.constant(numbers(3, 4))
    first = layers.fully_connected(x, 4)
    second = layers.fully_connected(first, 4)
    again = layers.fully_connected(x, 4, reuse=True, scope="fully_connected")
    return {"first": first, "second": second, "again": again, "names": [first.name, second.name]}


@question
def dense_that_is_not_trained():
    made = {"weights_initializer": tf.ones_initializer(), "trainable": False}
    return named(layers.fully_connected(numbers(3, 4), 2, **made))


@question
def dense_in_the_scopes_initializer():
    """Returns a layer whose scope has a default, which counts only for unset arguments."""
    with tf.variable_scope("s", initializer=tf.constant_initializer(0.25)):
        made = {"weights_initializer": None, "biases_initializer": None, "trainable": False}
        return named(layers.fully_connected(numbers(3, 4), 2, **made))


@question
def dense_of_a_list_in_a_scope():
    with tf.variable_scope("s", regularizer=layers.l2_regularizer(0.5)):
        return named(layers.fully_connected([[1.0, 2.0], [3.0, 4.0]], 2))


@question
def dense_of_one_collection():
    layers.fully_connected(
        numbers(3, 4), 2, variables_collections="mine", outputs_collections="out"
    )
    return {"members": members("mine", "out", tf.GraphKeys.WEIGHTS, tf.GraphKeys.ACTIVATIONS)}


@question
def dense_of_an_unknown_size():
    return {"output": layers.fully_connected(tf.placeholder(tf.float32, [None, None]), 2)}


@question
def dense_of_a_wrong_number():
    return {"output": layers.fully_connected(numbers(3, 4), 2.5)}


@question
def dense_of_one_dimension():
    return {"output": layers.fully_connected(numbers(3), 2)}


@question
def dense_again_that_is_not_there():
    return {"output": layers.fully_connected(numbers(3, 4), 2, reuse=True, scope="none")}


@question
def dense_by_its_activation():
    x = tf.constant(4 * numbers(3, 4))
    kinds = [layers.relu, layers.relu6, layers.linear]
    outputs = [kind(x, 2) for kind in kinds]
    return {"outputs": outputs, "names": [one.name for one in outputs]}


@question
def dense_in_doubles():
    return named(layers.fully_connected(numbers(3, 4).astype(np.float64), 2))


@question
def legacy_dense():
    output = layers.legacy_fully_connected(
        numbers(3, 4), 2, tf.nn.relu, weight_regularizer=layers.l2_regularizer(0.1)
    )
    keys = [tf.GraphKeys.WEIGHTS, tf.GraphKeys.BIASES, tf.GraphKeys.ACTIVATIONS]
    return named(output, members=members(*keys))


@question
def bias():
    output = layers.bias_add(
        numbers(2, 3, 4), tf.nn.relu, regularizer=layers.l2_regularizer(0.1), scope="b"
    )
    return named(output)


@question
def bias_by_default():
    output = layers.bias_add(
        numbers(2, 3), variables_collections=["mine"], outputs_collections=["out"]
    )
    return named(output, members=members("mine", "out"))


@question
def bias_of_channels_first():
    return named(layers.bias_add(numbers(2, 3, 2, 2), data_format="NCHW"))


@question
def dropout_out_of_training():
    x = tf.constant(numbers(3, 4))
    off = tf.placeholder_with_default(False, [])
    outputs = [
        layers.dropout(x, is_training=False, outputs_collections="out"),
        layers.dropout(x, 1.0),
        layers.dropout(x, is_training=off, scope="off"),
    ]
    return {"outputs": outputs, "members": members("out")}


@question
def dropout_scales():
    dropped = layers.dropout(tf.ones([40, 5]), 0.8, noise_shape=[40, 1])
    rows = tf.reduce_max(dropped, 1) - tf.reduce_min(dropped, 1)
    return {"most": tf.reduce_max(dropped), "within": tf.reduce_max(rows)}


@question
def flat():
    x = tf.placeholder_with_default(numbers(2, 3, 4), [None, 3, 4])
    unknown = tf.placeholder_with_default(numbers(2, 3, 4), [None, None, 4])
    rows = tf.placeholder_with_default(numbers(2, 3, 4), [2, None, 4])
    outputs = [
        layers.flatten(x, outputs_collections="out"),
        layers.flatten(unknown, scope="f"),
        layers.flatten(rows),
        layers.flatten(numbers(5)),
    ]
    names = [[one.name, str(one.shape)] for one in outputs]
    return {"outputs": outputs, "names": names, "members": members("out")}


@question
def flat_of_a_number():
    return {"output": layers.flatten(tf.constant(1.0))}


@question
def softmaxes():
    outputs = [
        layers.softmax(tf.constant(numbers(2, 3))),
        layers.softmax(tf.constant(numbers(2, 2, 3)), "s"),
    ]
    return {"outputs": outputs, "names": [one.name for one in outputs]}


@question
def ones():
    outputs = [
        layers.one_hot_encoding([0, 2, 5], 4, outputs_collections="out"),
        layers.one_hot_encoding(tf.constant([[1], [0]]), 2, 3.0, -1.0, scope="o"),
        layers.one_hot_encoding(tf.constant([1, 0], tf.int64), 2),
    ]
    return {"outputs": outputs, "members": members("out"), "names": [one.name for one in outputs]}


@question
def unit():
    x = tf.constant(numbers(2, 3))
    outputs = [layers.unit_norm(x, 1), layers.unit_norm(x, 0, epsilon=0.5, scope="u")]
    return {"outputs": outputs, "names": [one.name for one in outputs]}


@question
def unit_of_the_last():
    return {"output": layers.unit_norm(tf.constant(numbers(2, 3)), -1)}


@question
def units():
    x = tf.constant(numbers(2, 6))
    return {"outputs": [layers.maxout(x, 2), layers.maxout(x, 3, axis=1, scope="m")]}


@question
def repeated():
    return named(layers.repeat(tf.constant(numbers(2, 3)), 2, layers.fully_connected, 3))


@question
def repeated_in_a_scope():
    x = tf.constant(numbers(2, 3))
    output = layers.repeat(x, 2, layers.linear, 3, scope="l")
    return named(layers.repeat(output, 2, lambda net, scope: net + 1, scope="m"))


@question
def repeated_partial():
    return named(layers.repeat(tf.constant(numbers(2, 3)), 2, layers.linear, 3))


@question
def stacked():
    x = tf.constant(numbers(2, 3))
    return named(layers.stack(x, layers.fully_connected, [4, (3, tf.nn.tanh)], trainable=True))


@question
def stacked_in_a_scope():
    x = tf.constant(numbers(2, 3))
    return named(layers.stack(layers.stack(x, layers.relu, [4]), layers.linear, [2], scope="top"))


@question
def stacked_of_no_list():
    return {"output": layers.stack(tf.constant(numbers(2, 3)), layers.relu, 4)}


@question
def repeated_of_once():
    x = tf.constant(numbers(2, 3))
    return {"output": layers.repeat(x, 1, layers.fully_connected, 3, scope="once")}


if __name__ == "__main__":
    main()
