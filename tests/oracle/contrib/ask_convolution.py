"""Questions about the layers of tf.contrib.layers that are about pictures."""

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature
from trying import tried

layers = tf.contrib.layers
PICTURES = numbers(2, 5, 5, 3)
CHANNELS_FIRST = PICTURES.transpose([0, 3, 1, 2])
ONES = tf.ones_initializer()


def named(output, **more):
    """Returns a layer's output with its name and the shares of the loss that it left."""
    shares = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    return dict(
        {"output": output, "name": output.name, "shape": str(output.shape)},
        shares=[tf.identity(share) for share in shares],
        **more,
    )


def members(*collections):
    return [" ".join(one.name for one in tf.get_collection(key)) for key in collections]


def fed(shape, value=PICTURES):
    return tf.placeholder_with_default(value, shape)


@question
def signatures():
    names = "conv1d conv2d conv3d convolution convolution1d convolution2d convolution3d "
    names += "conv2d_transpose convolution2d_transpose separable_conv2d separable_convolution2d "
    names += "max_pool2d avg_pool2d"
    return {name: signature(getattr(layers, name)) for name in names.split()}


@question
def conv():
    return named(layers.conv2d(fed([None, 5, 5, 3]), 2, 3))


@question
def conv_and_its_arguments():
    output = layers.conv2d(
        PICTURES,
        2,
        [3, 2],
        stride=2,
        padding="VALID",
        activation_fn=tf.nn.tanh,
        weights_regularizer=layers.l2_regularizer(0.1),
        biases_regularizer=layers.l1_regularizer(0.2),
        variables_collections={"weights": ["mine"]},
        outputs_collections="out",
        scope="c",
    )
    return named(output, members=members("mine", "out"))


@question
def conv_at_a_rate():
    return named(layers.conv2d(PICTURES, 2, 2, rate=[2, 1], activation_fn=None))


@question
def conv_without_biases_of_two_strides():
    return named(layers.conv2d(PICTURES, 2, [1, 2], stride=[2, 1], biases_initializer=None))


@question
def conv_with_a_normalizer():
    made = {"normalizer_fn": layers.batch_norm, "normalizer_params": {"scale": True}}
    return named(layers.conv2d(PICTURES, 2, 3, **made))


@question
def conv_twice_and_again():
    x = tf.constant(PICTURES)
    first = layers.conv2d(x, 3, 3)
    second = layers.conv2d(first, 3, 3)
    again = layers.conv2d(x, 3, 3, reuse=True, scope="Conv_1")
    return {"second": second, "again": again, "names": [first.name, second.name, again.name]}


@question
def conv_of_channels_first():
    """Only on GPUs; the shape is known everywhere."""
    output = layers.conv2d(fed([None, 3, 5, 5], CHANNELS_FIRST), 2, 3, data_format="NCHW")
    return {"shape": str(output.shape), "name": output.name}


@question
def conv_of_a_wrong_format():
    return {"output": layers.conv2d(PICTURES, 2, 3, data_format="HWCN")}


@question
def conv_of_a_wrong_rank():
    return {"output": layers.conv2d(numbers(2, 5, 3), 2, 3)}


@question
def convs_of_other_ranks():
    outputs = [
        layers.conv1d(numbers(2, 5, 3), 2, 3),
        layers.convolution(numbers(2, 5, 3), 2, 2, padding="VALID", scope="c"),
        layers.conv3d(numbers(1, 2, 3, 3, 1), 2, 2),
    ]
    return {"outputs": outputs, "names": [one.name for one in outputs]}


@question
def transposed():
    return named(layers.conv2d_transpose(fed([None, 5, 5, 3]), 2, 3))


@question
def transposed_of_two_strides():
    output = layers.conv2d_transpose(
        PICTURES,
        2,
        [3, 2],
        stride=[2, 3],
        weights_regularizer=layers.l2_regularizer(0.1),
        variables_collections=["mine"],
        outputs_collections=["out"],
        scope="t",
    )
    return named(output, members=members("mine", "out"))


@question
def transposed_and_valid():
    made = {"activation_fn": None, "normalizer_fn": layers.batch_norm}
    return named(layers.conv2d_transpose(PICTURES, 2, [3, 1], 2, "VALID", **made))


@question
def transposed_and_strides_that_are_larger():
    made = {"stride": 3, "padding": "VALID", "biases_initializer": None}
    return named(layers.conv2d_transpose(fed([None, None, None, 3]), 2, 2, **made))


@question
def transposed_of_a_wrong_format():
    return {"output": layers.conv2d_transpose(PICTURES, 2, 3, data_format="HWCN")}


@question
def inputs_of_a_wrong_rank():
    x = tf.constant(numbers(3, 4, 4))
    both = [layers.separable_conv2d, layers.conv2d_transpose]
    return {"errors": [tried(layer, x, 2, 3) for layer in both]}


@question
def separable():
    return named(layers.separable_conv2d(fed([None, 5, 5, 3]), 2, 3))


@question
def separable_and_its_arguments():
    output = layers.separable_conv2d(
        PICTURES,
        4,
        [3, 2],
        depth_multiplier=2,
        stride=2,
        padding="VALID",
        activation_fn=None,
        weights_regularizer=layers.l2_regularizer(0.1),
        biases_regularizer=layers.l1_regularizer(0.2),
        variables_collections={"weights": ["mine"], "biases": ["yours"]},
        outputs_collections="out",
        scope="s",
    )
    return named(output, members=members("mine", "yours", "out"))


@question
def separable_of_depth_alone():
    made = {"weights_regularizer": layers.l2_regularizer(0.1), "variables_collections": ["mine"]}
    output = layers.separable_conv2d(PICTURES, None, 3, 2, stride=[2, 2], **made)
    return named(output, members=members("mine"))


@question
def separable_at_a_rate():
    return named(layers.separable_conv2d(PICTURES, None, 2, 1, rate=2, biases_initializer=None))


@question
def separable_with_a_normalizer():
    made = {"normalizer_fn": layers.batch_norm, "normalizer_params": {"is_training": False}}
    one = layers.separable_conv2d(PICTURES, 2, 3, **made)
    return named(layers.separable_conv2d(one, None, 3, **made))


@question
def separable_that_is_not_trained():
    """Returns the two kernels can begin with other values."""
    twos = tf.constant_initializer(2.0)
    made = {"trainable": False, "activation_fn": None}
    outputs = [
        layers.separable_conv2d(PICTURES, 2, 3, weights_initializer=ONES, **made),
        layers.separable_conv2d(
            PICTURES, 2, 3, weights_initializer=ONES, pointwise_initializer=twos, **made
        ),
    ]
    return {"outputs": outputs}


@question
def pools():
    x = fed([None, 5, 5, 3])
    outputs = [
        layers.max_pool2d(x, 2),
        layers.max_pool2d(x, [3, 2], stride=1, padding="SAME", outputs_collections="out"),
        layers.avg_pool2d(x, 2, scope="a"),
        layers.avg_pool2d(x, [2, 3], [1, 2], "SAME"),
    ]
    names = [[one.name, str(one.shape)] for one in outputs]
    return {"outputs": outputs, "names": names, "members": members("out")}


@question
def pools_of_channels_first():
    outputs = [
        layers.max_pool2d(CHANNELS_FIRST, 2, data_format="NCHW"),
        layers.avg_pool2d(CHANNELS_FIRST, 2, data_format="NCHW"),
    ]
    return {"shapes": [str(one.shape) for one in outputs]}


@question
def pool_of_a_wrong_format():
    return {"output": layers.max_pool2d(PICTURES, 2, data_format="HWCN")}


@question
def pool_of_three_sides():
    return {"output": layers.max_pool2d(PICTURES, [2, 2, 2])}


@question
def padding_in_lower_case():
    x = tf.constant(PICTURES.astype(np.float64))
    return {
        "outputs": [layers.conv2d(x, 2, 3, padding="valid"), layers.max_pool2d(x, 2, 2, "same")]
    }


if __name__ == "__main__":
    main()
