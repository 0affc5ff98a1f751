"""Questions about the outputs of tf.contrib.slim.nets, of small nets."""

import numpy as np
import tensorflow as tf
from asking import main, numbers, question
from picturing import RESIDUAL, VERSIONS, pictures, small
from tensorflow.contrib.slim import nets

slim = tf.contrib.slim
resnet_utils = nets.resnet_utils


def load(session, variables):
    """Values without a seed; weights are so small that no output of a deep net is too large."""
    values = {}
    for index, one in enumerate(sorted(variables, key=lambda v: v.op.name)):
        shape = one.shape.as_list()
        scale = np.prod(shape[:3]) ** -0.5 if len(shape) == 4 else 1.0
        values[one] = scale * (numbers(*shape, start=7 * index) + 0.1)
    feeds = {one.initializer.inputs[1]: value for one, value in values.items()}
    session.run([one.initializer for one in variables], feeds)


def hidden(asked):
    """Returns the answer without its many variables, which a separate graph holds."""

    def answered():
        with tf.Graph().as_default(), tf.Session() as session:
            fetches = asked()
            trained = tf.trainable_variables()
            session.run([one.initializer for one in tf.global_variables() if one not in trained])
            load(session, trained)
            found = [session.run(one) for one in fetches]
        return {
            f"{number} {key}": value
            for number, values in enumerate(found)
            for key, value in values.items()
            if value is not None
        }

    answered.__name__ = asked.__name__
    return answered


def means(end_points):
    return {key: tf.reduce_mean(tf.abs(one)) for key, one in end_points.items()}


def run_twice(output, end_points):
    """Outputs and losses, then what the updates have made of the moving means."""
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    kept = [one for one in tf.global_variables() if "moving" in one.op.name]
    first = dict(means(end_points), losses=tf.add_n(losses), count=tf.constant(len(losses)))
    # Normalized by few examples, single outputs are differences of almost equal numbers.
    first.update({} if updates else {"output": output})
    moved = tf.stack([tf.reduce_mean(one) for one in kept])
    return [first, {"updates": tf.group(*updates)}, {"moved": moved}]


def residual(version, training, **named):
    net, block = RESIDUAL[version]
    with slim.arg_scope(resnet_utils.resnet_arg_scope(0.01, 0.5)):
        x = tf.constant(numbers(2, 33, 33, 3))
        return run_twice(*net(x, small(block), 3, training, **named))


@question
@hidden
def residual_v1_in_training():
    return residual("v1", True)


@question
@hidden
def residual_v1():
    return residual("v1", False, global_pool=False, include_root_block=False, scope="net")


@question
@hidden
def residual_v2_in_training():
    return residual("v2", True, output_stride=8)


@question
@hidden
def residual_v2():
    return residual("v2", False, output_stride=4, global_pool=False)


def run_inception(version, size, training, **named):
    net, scope = VERSIONS[version]
    with slim.arg_scope(scope()):
        x = tf.constant(numbers(2, size, size, 3))
        if version != "v1":
            named = dict({"depth_multiplier": 0.1, "min_depth": 4}, **named)
        return run_twice(*net(x, 3, training, dropout_keep_prob=1.0, **named))


@question
@hidden
def inception_v1_in_use():
    return run_inception("v1", 224, False, prediction_fn=slim.softmax)


@question
@hidden
def inception_v2_in_training():
    return run_inception("v2", 64, True, spatial_squeeze=False)


@question
@hidden
def inception_v3_in_training():
    return run_inception("v3", 107, True)


def run_chain(net, scope, size):
    """Outputs of the convolutions, and of the dense layers for other inputs; no huge kernel."""
    with slim.arg_scope(scope()):
        x = tf.placeholder(tf.float32, [1, None, None, 3])
        output, end_points = net(x, 3, is_training=False)
    name = net.__name__
    with tf.Session() as session:
        trained = tf.trainable_variables()
        load(session, [one for one in trained if "fc6/weights" not in one.op.name])
        first = end_points[name + "/pool5"]
        pooled = session.run(first, {x: numbers(1, size, size, 3)})
        dense = end_points[name + "/fc6"]
        logits = session.run(output, {dense: numbers(1, 1, 1, dense.shape.as_list()[-1]) + 0.3})
    return {"pooled": pooled[..., :20], "logits": logits}


@question
def convolutions_of_chains():
    known = {}
    for net, scope, size in (
        (nets.vgg.vgg_a, nets.vgg.vgg_arg_scope, 65),
        (nets.alexnet.alexnet_v2, nets.alexnet.alexnet_v2_arg_scope, 97),
        (nets.overfeat.overfeat, nets.overfeat.overfeat_arg_scope, 100),
    ):
        with tf.Graph().as_default():
            found = run_chain(net, scope, size)
            known.update({f"{net.__name__} {key}": one for key, one in found.items()})
    return known


@question
def dropout_of_chains():
    """Asks for dropout, which acts in training only."""
    known = {}
    for training in (True, False):
        with tf.Graph().as_default() as graph:
            nets.alexnet.alexnet_v2(pictures(None), 5, training, 0.25)
            kinds = [one.type for one in graph.get_operations() if "dropout" in one.name]
            known[str(training)] = "RandomUniform" in kinds
    return known


if __name__ == "__main__":
    main()
