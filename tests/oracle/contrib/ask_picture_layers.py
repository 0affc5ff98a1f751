"""Questions about layers of tf.contrib.layers that are about pictures."""

import tensorflow as tf
from asking import main, numbers, question, signature
from trying import tried

layers = tf.contrib.layers
CUBES = numbers(2, 2, 3, 2, 3)
PICTURES = numbers(2, 4, 5, 3)


def named(output):
    return {"output": output, "shape": str(output.shape)}


@question
def signatures():
    names = "conv3d_transpose convolution3d_transpose conv2d_in_plane convolution2d_in_plane"
    return {name: signature(getattr(layers, name)) for name in names.split()}


@question
def transposed_cubes():
    return named(layers.conv3d_transpose(CUBES, 2, 3))


@question
def transposed_cubes_of_strides():
    output = layers.conv3d_transpose(
        tf.placeholder_with_default(CUBES, [None, 2, 3, 2, 3]),
        2,
        [3, 2, 1],
        stride=[2, 1, 3],
        padding="VALID",
        activation_fn=None,
        biases_initializer=None,
        variables_collections=["mine"],
        scope="cubes",
    )
    return dict(named(output), mine=repr([one.op.name for one in tf.get_collection("mine")]))


@question
def transposed_cubes_of_wrong_arguments():
    return {
        "rank": tried(layers.conv3d_transpose, PICTURES, 2, 3),
        "format": tried(layers.conv3d_transpose, CUBES, 2, 3, data_format="NHWC"),
    }


@question
def in_plane():
    return named(layers.conv2d_in_plane(tf.constant(PICTURES), 3))


@question
def in_plane_of_strides():
    output = layers.conv2d_in_plane(
        tf.constant(PICTURES),
        [2, 1],
        stride=2,
        padding="VALID",
        activation_fn=tf.nn.tanh,
        weights_regularizer=layers.l2_regularizer(0.5),
        scope="plane",
    )
    return dict(named(output), share=tf.add_n(tf.losses.get_regularization_losses()))


@question
def normalized_in_plane():
    with tf.contrib.framework.arg_scope([layers.conv2d_in_plane], normalizer_fn=layers.batch_norm):
        return named(layers.conv2d_in_plane(tf.constant(PICTURES), 2))


if __name__ == "__main__":
    main()
