"""Questions about small functions of tf.contrib: sequences, windows of volumes, devices."""

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature

layers = tf.contrib.layers
training = tf.contrib.training


@question
def signatures():
    names = "avg_pool3d dense_to_sparse images_to_sequence max_pool3d sequence_to_images "
    names += "spatial_softmax"
    return {name: signature(getattr(layers, name)) for name in names.split()}


@question
def sparse_of_dense():
    dense = tf.constant([[3, 0, 5], [0, 0, 1]])
    sparse = layers.dense_to_sparse(dense, outputs_collections="out")
    other = layers.dense_to_sparse(dense, eos_token=5, scope="mine")
    return {
        "indices": sparse.indices,
        "values": sparse.values,
        "shape": sparse.dense_shape,
        "other": other.indices,
        "collected": len(tf.get_collection("out")),
    }


@question
def points_of_spatial_softmax():
    x = numbers(2, 3, 4, 2)
    points = layers.spatial_softmax(tf.placeholder_with_default(x, [None, 3, 4, 2]))
    hot = layers.spatial_softmax(x, temperature=0.5, name="hot")
    first = layers.spatial_softmax(np.transpose(x, [0, 3, 1, 2]), data_format="NCHW")
    names = [v.op.name for v in tf.global_variables()]
    shape = str(points.shape)
    return {"points": points, "hot": hot, "first": first, "names": names, "shape": shape}


@question
def fixed_temperature_of_spatial_softmax():
    layers.spatial_softmax(numbers(1, 2, 2, 1), trainable=False, variables_collections=["mine"])
    mine = [v.op.name for v in tf.get_collection("mine")]
    return {"trainable": len(tf.trainable_variables()), "mine": mine}


@question
def wrong_format_of_spatial_softmax():
    return {"output": layers.spatial_softmax(numbers(1, 2, 2, 1), data_format="HWC")}


@question
def scaled_gradients():
    x = tf.constant(3.0)
    y = layers.scale_gradient(x, 0.25)
    return {"value": y, "gradient": tf.gradients(y * 2, x)[0]}


@question
def sequences_of_images():
    x = numbers(2, 3, 4, 2)
    sequence = layers.images_to_sequence(x)
    first = layers.images_to_sequence(np.transpose(x, [0, 3, 1, 2]), data_format="NCHW")
    back = layers.sequence_to_images(sequence, 3)
    other = layers.sequence_to_images(sequence, 3, output_data_format="channels_first")
    return {
        "sequence": sequence,
        "first": first,
        "back": back,
        "other": other,
        "names": [sequence.name, back.name],
        "shapes": [str(sequence.shape), str(back.shape), str(other.shape)],
    }


@question
def sequences_of_images_of_unknown_size():
    x = tf.placeholder_with_default(numbers(2, 3, 4, 2), [None, 3, 4, 2])
    sequence = layers.images_to_sequence(x)
    back = layers.sequence_to_images(sequence, 3)
    return {"sequence": sequence, "back": back, "shapes": [str(sequence.shape), str(back.shape)]}


@question
def wrong_format_of_images():
    return {"output": layers.images_to_sequence(numbers(1, 2, 2, 1), data_format="HWC")}


@question
def windows_of_volumes():
    x = numbers(1, 4, 4, 4, 2)
    largest = layers.max_pool3d(x, [2, 2, 2], outputs_collections="out")
    mean = layers.avg_pool3d(x, 3, stride=1, padding="SAME", scope="mine")
    collected = len(tf.get_collection("out"))
    return {"max": largest, "mean": mean, "names": [largest.name, mean.name], "out": collected}


@question
def wrong_format_of_volumes():
    return {"output": layers.max_pool3d(numbers(1, 4, 4, 4, 2), 2, data_format="NHWC")}


def operations(*sizes):
    return [tf.placeholder(tf.float64, [size]).op for size in sizes]


@question
def devices_by_load():
    strategy = training.GreedyLoadBalancingStrategy(2, training.byte_size_load_fn)
    return {"devices": [strategy(op) for op in operations(4, 1, 1, 8, 2, 2)]}


@question
def loads():
    ops = [tf.placeholder(tf.float32, [3, 5]).op, tf.placeholder(tf.float64, []).op]
    return {"loads": [training.byte_size_load_fn(op) for op in ops]}


@question
def load_of_unknown_size():
    return {"load": training.byte_size_load_fn(tf.placeholder(tf.float32, [None, 2]).op)}


@question
def load_without_output():
    return {"load": training.byte_size_load_fn(tf.no_op())}


if __name__ == "__main__":
    main()
