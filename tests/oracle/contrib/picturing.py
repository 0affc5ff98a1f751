"""What the questions about tf.contrib.slim.nets share: nets, and what their graphs are like."""

import hashlib

import tensorflow as tf
from tensorflow.contrib.slim import nets

slim = tf.contrib.slim
inception, resnet_utils = nets.inception, nets.resnet_utils
V1, V2 = nets.resnet_v1, nets.resnet_v2
VERSIONS = {
    "v1": (inception.inception_v1, inception.inception_v1_arg_scope),
    "v2": (inception.inception_v2, inception.inception_v2_arg_scope),
    "v3": (inception.inception_v3, inception.inception_v3_arg_scope),
}
RESIDUAL = {"v1": (V1.resnet_v1, V1.resnet_v1_block), "v2": (V2.resnet_v2, V2.resnet_v2_block)}


def pictures(size, examples=1):
    return tf.placeholder(tf.float32, [examples, size, size, 3])


def sized(tensor):
    return "x".join(str(side) for side in tensor.shape.as_list()).replace("None", "?")


def listed(end_points):
    """Returns the end points; dropout's operations have other names in each TensorFlow."""
    names = {key: one.op.name.split("/dropout/")[0] for key, one in end_points.items()}
    return [f"{key} {names[key]} {sized(one)}" for key, one in end_points.items()]


def variables():
    return [f"{one.op.name} {sized(one)}" for one in tf.global_variables()]


def members():
    """Returns the number of members of the public collections, and of those of the scopes."""
    keys = tf.get_default_graph().get_all_collection_keys()
    counts = {str(key): len(tf.get_collection(key)) for key in keys}
    return sorted(f"{key} {count}" for key, count in counts.items() if count and key[:2] != "__")


def built(net, *arguments, size=None, scope=None, **named):
    """Returns a description of a net's graph."""
    with tf.Graph().as_default(), slim.arg_scope(scope() if scope else []):
        output, end_points = net(pictures(size), *arguments, **named)
        return {
            "output": output.name + " " + sized(output),
            "points": listed(end_points),
            "variables": variables(),
            "collections": members(),
            "points are": type(end_points).__name__,
        }


def short(about):
    """Returns the description of `built`, with a long list as its size and a digest."""
    text = "\n".join(about["variables"])
    digest = hashlib.md5(text.encode()).hexdigest()
    points = hashlib.md5("\n".join(about["points"]).encode()).hexdigest()
    sizes = [len(about["variables"]), len(about["points"])]
    return dict(about, variables=digest, points=points, sizes=sizes)


def small(block):
    return [block("one", 2, 2, 2), block("two", 1, 2, 2), block("three", 2, 1, 1)]
