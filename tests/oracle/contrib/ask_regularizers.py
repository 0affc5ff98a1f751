"""Questions about regularizers, initializers, embeddings and summaries of tf.contrib.layers."""

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature

layers = tf.contrib.layers
X = numbers(3, 2)


def shares(*regularizers):
    """Returns the penalties of regularizers for a tensor, with their names."""
    found = [regularizer(tf.constant(X)) for regularizer in regularizers]
    return {
        "shares": [one for one in found if one is not None],
        "names": [str(one if one is None else one.name) for one in found],
    }


@question
def regularizers():
    return shares(
        layers.l1_regularizer(0.1),
        layers.l2_regularizer(0.1),
        layers.l2_regularizer(np.float32(0.1), scope="mine"),
        layers.l2_regularizer(0.0),
        layers.l1_l2_regularizer(),
        layers.l1_l2_regularizer(0.1, 0.2, scope="both"),
        layers.l1_l2_regularizer(0.1, 0.0),
        layers.l1_l2_regularizer(0.0, 0.0),
        layers.sum_regularizer([layers.l1_regularizer(0.1), None, layers.l2_regularizer(0.3)]),
    )


@question
def sums_of_nothing():
    return {
        "none": str(layers.sum_regularizer([])),
        "nones": str(layers.sum_regularizer([None])),
        "zero": str(layers.sum_regularizer([layers.l2_regularizer(0.0)])(tf.constant(X))),
    }


@question
def scale_of_a_whole_number():
    return shares(layers.l2_regularizer(1))


@question
def scale_below_zero():
    return shares(layers.l1_regularizer(-0.1))


@question
def scales_of_whole_numbers():
    return shares(layers.l1_l2_regularizer(1, 1))


@question
def applied():
    tensors = [tf.constant(X), tf.constant(2 * X)]
    one = layers.apply_regularization(layers.l2_regularizer(0.1), tensors)
    tf.add_to_collection(tf.GraphKeys.WEIGHTS, tensors[1])
    two = layers.apply_regularization(layers.l1_regularizer(0.1))
    zero = layers.apply_regularization(layers.l1_regularizer(0.0))
    kept = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    return {"sums": [one, two, zero], "kept": kept, "names": [v.name for v in kept]}


@question
def applied_to_nothing():
    return {"sum": layers.apply_regularization(layers.l2_regularizer(0.1))}


@question
def bounds_of_initializers():
    """Evenly spread values have a largest one that is known; 40000 come near enough."""
    shape = [100, 400]
    kinds = [
        layers.xavier_initializer(),
        layers.xavier_initializer_conv2d(),
        layers.variance_scaling_initializer(uniform=True),
        layers.variance_scaling_initializer(1.0, "FAN_AVG", True),
        layers.variance_scaling_initializer(1.0, "FAN_OUT", uniform=True),
    ]
    largest = [tf.reduce_max(tf.abs(kind(shape, dtype=tf.float32))) for kind in kinds]
    return {"largest": tf.round(1000 * tf.stack(largest)) / 1000}


@question
def bounds_of_normal_initializers():
    """Asks for the bounds of normal initializers: two deviations before truncation."""
    kinds = [
        layers.xavier_initializer(uniform=False, seed=3),
        layers.variance_scaling_initializer(seed=3),
        layers.variance_scaling_initializer(1.0, "FAN_OUT", seed=3),
    ]
    many = [kind([100, 400], dtype=tf.float32) for kind in kinds]
    largest = tf.stack([tf.reduce_max(tf.abs(one)) for one in many])
    deviations = tf.stack([tf.sqrt(tf.reduce_mean(one**2)) for one in many])
    return {"largest": tf.round(100 * largest), "deviations": tf.round(200 * deviations)}


@question
def values_of_initializers():
    """Asks for the values of initializers, which are equal for equal seeds."""
    kinds = [
        layers.xavier_initializer(seed=3),
        layers.xavier_initializer(uniform=False, seed=3),
        layers.variance_scaling_initializer(seed=3),
        layers.variance_scaling_initializer(1.0, "FAN_OUT", True, seed=3),
    ]
    return {"values": tf.stack([kind([2, 3, 4, 2], dtype=tf.float32) for kind in kinds])}


@question
def bounds_of_kernels():
    """Returns the inputs of a kernel are those of all its places."""
    kind = layers.variance_scaling_initializer(uniform=True)
    largest = tf.reduce_max(tf.abs(kind([5, 5, 40, 40], dtype=tf.float32)))
    return {"largest": tf.round(1000 * largest)}


@question
def an_unknown_mode():
    return {"initializer": str(layers.variance_scaling_initializer(mode="FAN"))}


@question
def initializer_of_whole_numbers():
    return {"initializer": str(layers.xavier_initializer(dtype=tf.int32))}


@question
def signatures():
    names = "summarize_activation summarize_activations summarize_collection summarize_tensor "
    names += "summarize_tensors embed_sequence bow_encoder embedding_lookup_unique "
    names += "safe_embedding_lookup_sparse"
    return {name: signature(getattr(layers, name)) for name in names.split()}


@question
def embedded():
    ids = tf.constant([[0, 2, 2], [1, 0, 3]])
    one = layers.embed_sequence(ids, 4, 2, regularizer=layers.l2_regularizer(0.1))
    again = layers.embed_sequence(ids[:1], scope="EmbedSequence", reuse=True)
    sizes = layers.embed_sequence(ids, 4, 2, unique=True, scope="unique")
    kept = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    return {"outputs": [one, sizes], "again": again, "shares": [tf.identity(v) for v in kept]}


@question
def embedded_of_no_size():
    return {"output": layers.embed_sequence(tf.constant([[0, 1]]), 4)}


@question
def bags():
    ids = tf.constant([[0, 2, 2], [1, 0, 3]])
    ones = {"initializer": tf.ones_initializer(), "trainable": False}
    return {
        "dense": layers.bow_encoder(ids, 4, 2, sparse_lookup=False),
        "mine": layers.bow_encoder(ids, 4, 2, False, scope="bow", **ones),
    }


@question
def bags_by_default():
    return {"output": layers.bow_encoder(tf.constant([[0, 2, 2], [1, 0, 3]]), 4, 2)}


@question
def looked_up():
    """Returns lookups of rows without ids or with invalid ids: zeros or a default."""
    vectors = tf.get_variable("vectors", [4, 2])
    indices = [[0, 0], [0, 1], [2, 0], [3, 0]]
    ids = tf.SparseTensor(indices, tf.constant([3, 1, 2, -1], tf.int64), [4, 2])
    weights = tf.SparseTensor(indices, [0.5, 2.0, 0.0, 1.0], [4, 2])
    find = layers.safe_embedding_lookup_sparse
    unique = layers.embedding_lookup_unique(vectors, tf.constant([[0, 2, 2], [1, 0, 3]]))
    return {
        "unique": unique,
        "shape": str(unique.shape),
        "mean": find([vectors], ids),
        "weighted": find([vectors], ids, weights, combiner="sum"),
        "default": find([vectors], ids, default_id=1, combiner="sqrtn", max_norm=0.3),
    }


def summaries():
    """Returns the tags of summaries, with the kinds of their operations."""
    found = []
    for one in tf.get_collection(tf.GraphKeys.SUMMARIES):
        tag = tf.get_static_value(one.op.inputs[0])
        found.append(one.op.type.split("Summary")[0] + " " + tag.item().decode())
    return found


@question
def summarized():
    number, vector = tf.constant(1.0, name="number"), tf.constant([1.0, 2.0], name="vector")
    with tf.name_scope("scope"):
        inner = tf.constant([1.0], name="inner")
    layers.summarize_tensor(number)
    layers.summarize_tensor(vector, "tag")
    layers.summarize_tensors([inner, number * 2])
    tf.add_to_collection("mine", vector)
    tf.add_to_collection("mine", inner)
    count = [
        len(layers.summarize_collection("mine")),
        len(layers.summarize_collection("mine", "scope")),
        len(layers.summarize_collection("yours")),
    ]
    return {"tags": summaries(), "count": count}


@question
def summarized_activations():
    x = tf.constant([1.0, -1.0], name="x")
    kinds = [tf.nn.relu, tf.nn.relu6, tf.nn.softplus, tf.nn.tanh, tf.nn.elu]
    for kind in kinds:
        layers.summarize_activation(kind(x))
    tf.add_to_collection(tf.GraphKeys.ACTIVATIONS, tf.nn.relu(x, "act"))
    layers.summarize_activations()
    return {"tags": summaries()}


@question
def summarized_variables():
    tf.get_variable("v", [2])
    tf.get_variable("w", [], trainable=False, initializer=tf.zeros_initializer())
    slim = tf.contrib.slim
    slim.summarize_variables()
    slim.summarize_weights()
    slim.summarize_biases()
    return {"tags": summaries()}


if __name__ == "__main__":
    main()
