"""Questions about normalizations and regularizers of tf.contrib.layers."""

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature

layers = tf.contrib.layers
PICTURES = numbers(2, 3, 3, 4)
UPDATES = tf.GraphKeys.UPDATE_OPS


def named(output, **more):
    """Returns a layer's output and the shares of the loss that it left."""
    shares = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    return dict(
        {"output": output, "shape": str(output.shape)},
        shares=[tf.identity(share) for share in shares],
        **more,
    )


def members(*collections):
    """Returns the names in collections; those of updates are operations' or of tensors."""
    return [
        " ".join(one.name.split(":")[0] for one in tf.get_collection(key)) for key in collections
    ]


def moving():
    return {one.op.name: one for one in tf.global_variables() if "moving" in one.op.name}


def steps(output, count=3):
    """Returns the output, and then the moving means after each of some steps."""
    updates = {"updates": tf.group(*tf.get_collection(UPDATES)), "output": output}
    return [named(output, updates=len(tf.get_collection(UPDATES)))] + [updates, moving()] * count


@question
def signatures():
    names = "batch_norm layer_norm instance_norm group_norm"
    return {name: signature(getattr(layers, name)) for name in names.split()}


@question
def batch():
    return steps(layers.batch_norm(numbers(5, 3)))


@question
def batch_of_pictures():
    x = tf.placeholder_with_default(PICTURES, [None, 3, 3, 4])
    return steps(layers.batch_norm(x, decay=0.5, scale=True))


@question
def batch_of_pictures_that_is_not_fused():
    return steps(layers.batch_norm(PICTURES, decay=0.5, fused=False))


@question
def batch_of_three_dimensions():
    return steps(layers.batch_norm(numbers(2, 3, 4), decay=0.5))


@question
def batch_of_channels_first():
    x = PICTURES.transpose([0, 3, 1, 2])
    return steps(layers.batch_norm(x, decay=0.5, data_format="NCHW", fused=False))


@question
def batch_that_updates_at_once():
    output = layers.batch_norm(numbers(5, 3), decay=0.5, updates_collections=None)
    return [named(output, updates=members(UPDATES)), moving(), {"output": output}, moving()]


@question
def batch_of_pictures_that_updates_at_once():
    output = layers.batch_norm(PICTURES, decay=0.5, updates_collections=None, scale=True)
    return [named(output), moving(), {"output": output}, moving()]


@question
def batch_out_of_training():
    output = layers.batch_norm(numbers(5, 3), is_training=False, scale=True)
    return named(output, updates=members(UPDATES))


@question
def batch_that_is_told_later():
    training = tf.placeholder_with_default(False, [])
    return steps(layers.batch_norm(numbers(5, 3), decay=0.5, is_training=training))


@question
def batch_that_is_told_later_and_trains():
    training = tf.placeholder_with_default(True, [])
    return steps(layers.batch_norm(numbers(5, 3), decay=0.5, is_training=training))


@question
def batch_told_later_that_updates_at_once():
    training = tf.placeholder_with_default(True, [])
    output = layers.batch_norm(PICTURES, decay=0.5, is_training=training, updates_collections=None)
    return [{"output": output}, moving()]


@question
def batch_and_its_arguments():
    output = layers.batch_norm(
        numbers(5, 3),
        center=False,
        scale=True,
        epsilon=0.1,
        activation_fn=tf.nn.relu,
        param_initializers={"moving_mean": tf.constant_initializer(0.25)},
        param_regularizers={"gamma": layers.l2_regularizer(0.1)},
        variables_collections={"gamma": ["g"], "moving_mean": ["m"]},
        outputs_collections="out",
        updates_collections="mine",
        scope="bn",
    )
    return [named(output, members=members("g", "m", "out", "mine", UPDATES)), moving()]


@question
def batch_that_is_not_trained():
    return named(layers.batch_norm(numbers(5, 3), trainable=False, scale=True))


@question
def batch_of_a_moving_mean_without_bias():
    return steps(layers.batch_norm(numbers(5, 3), decay=0.5, zero_debias_moving_mean=True))


@question
def batch_with_weights():
    output = layers.batch_norm(numbers(4, 3), decay=0.5, batch_weights=[1.0, 2.0, 0.0, 1.0])
    return steps(output)


@question
def batch_and_the_order_of_its_variables():
    orders = {}
    for shape, made in (
        ((2, 4, 4, 3), {}),
        ((2, 4, 4, 3), {"fused": False}),
        ((2, 4, 4, 3), {"updates_collections": None}),
        ((2, 4, 4, 3), {"zero_debias_moving_mean": True}),
        ((2, 4, 4, 3), {"batch_weights": [1.0, 2.0]}),
        ((2, 5, 3), {}),
        ((2, 3), {}),
        ((2, 3), {"fused": False}),
    ):
        with tf.Graph().as_default():
            layers.batch_norm(tf.constant(numbers(*shape)), scale=True, **made)
            names = [one.op.name.split("/")[-1] for one in tf.global_variables()]
        orders[f"{len(shape)} {sorted(made.items())}"] = names
    return orders


@question
def batch_twice_and_again():
    x = tf.constant(numbers(5, 3))
    outputs = [layers.batch_norm(x), layers.batch_norm(x)]
    outputs.append(layers.batch_norm(x, reuse=True, scope="BatchNorm", is_training=False))
    return {"outputs": outputs, "updates": members(UPDATES)}


@question
def batch_of_an_unknown_size():
    return {"output": layers.batch_norm(tf.placeholder(tf.float32, [None, None]))}


@question
def batch_of_a_wrong_format():
    return {"output": layers.batch_norm(PICTURES, data_format="HWCN")}


@question
def batch_of_doubles():
    return named(layers.batch_norm(numbers(5, 3).astype(np.float64)))


@question
def batch_of_halves():
    return {"outputs": layers.batch_norm(numbers(5, 3).astype(np.float16)).dtype.name}


@question
def layer():
    outputs = [layers.layer_norm(numbers(2, 4)), layers.layer_norm(PICTURES)]
    return [named(one) for one in outputs]


@question
def layer_and_its_arguments():
    output = layers.layer_norm(
        PICTURES,
        center=False,
        activation_fn=tf.nn.relu,
        begin_norm_axis=2,
        begin_params_axis=2,
        variables_collections=["mine"],
        outputs_collections="out",
        scope="ln",
    )
    return named(output, members=members("mine", "out"))


@question
def layer_of_the_last_axis():
    x = tf.placeholder_with_default(numbers(2, 3, 4), [None, None, 4])
    outputs = [layers.layer_norm(x, begin_norm_axis=-1), layers.layer_norm(x, scale=False)]
    return [named(one) for one in outputs]


@question
def layer_of_a_wrong_axis():
    return {"output": layers.layer_norm(numbers(2, 4), begin_norm_axis=2)}


@question
def layer_of_equal_values():
    return {"output": layers.layer_norm(np.full([2, 4], 3.0, np.float32))}


@question
def layer_of_unknown_parameters():
    return {"output": layers.layer_norm(tf.placeholder(tf.float32, [2, None]))}


@question
def instance():
    x = tf.placeholder_with_default(PICTURES, [None, 3, 3, 4])
    return named(layers.instance_norm(x))


@question
def instance_and_its_arguments():
    output = layers.instance_norm(
        PICTURES.transpose([0, 3, 1, 2]),
        center=False,
        epsilon=0.1,
        activation_fn=tf.nn.relu,
        param_initializers={"gamma": tf.constant_initializer(2.0)},
        trainable=False,
        variables_collections=["mine"],
        outputs_collections="out",
        data_format="NCHW",
        scope="in",
    )
    return named(output, members=members("mine", "out"))


@question
def instance_of_two_dimensions():
    return {"output": layers.instance_norm(numbers(2, 4))}


@question
def group():
    x = tf.placeholder_with_default(PICTURES, [None, 3, 3, 4])
    return named(layers.group_norm(x, 2))


@question
def group_by_default():
    return named(layers.group_norm(numbers(1, 2, 2, 64)))


@question
def group_and_its_arguments():
    output = layers.group_norm(
        PICTURES.transpose([0, 3, 1, 2]),
        2,
        channels_axis=-3,
        reduction_axes=(-2, -1),
        scale=False,
        epsilon=0.1,
        activation_fn=tf.nn.relu,
        variables_collections=["mine"],
        outputs_collections="out",
        scope="gn",
    )
    return named(output, members=members("mine", "out"))


@question
def group_over_one_axis():
    x = numbers(2, 3, 4)
    outputs = [layers.group_norm(x, 2, reduction_axes=[-2]), layers.group_norm(x, 4, -1, [1])]
    return [named(one) for one in outputs]


@question
def group_that_does_not_divide():
    return {"output": layers.group_norm(PICTURES, 3)}


@question
def group_of_more_than_channels():
    return {"output": layers.group_norm(PICTURES)}


@question
def group_over_the_channels():
    return {"output": layers.group_norm(PICTURES, 2, reduction_axes=(-2, -1))}


if __name__ == "__main__":
    main()
