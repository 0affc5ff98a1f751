"""Questions about the layers and cells of tf.contrib.model_pruning, whose weights have masks."""

import tensorflow as tf
from asking import main, numbers, question
from tensorflow.contrib.model_pruning.python import pruning
from tensorflow.contrib.model_pruning.python.layers import layers
from trying import tried

model_pruning = tf.contrib.model_pruning
PICTURES = numbers(2, 5, 4, 3)
ROWS = numbers(3, 4)
COLLECTIONS = "kernel masks thresholds masked_weights mine out update_ops"


def named(output, **more):
    """Returns a layer's output with its name, its collections and its shares of the loss."""
    found = [" ".join(one.name for one in tf.get_collection(key)) for key in COLLECTIONS.split()]
    shares = [tf.identity(one) for one in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)]
    members = [" ".join(one for one in names.split() if "Identity" not in one) for names in found]
    return dict(output=output, name=output.name, members=members, shares=shares, **more)


def pruned(output, sparsity=0.5):
    """Returns an output before and after an update of its masks."""
    spec = model_pruning.get_pruning_hparams()
    spec.initial_sparsity = sparsity
    update = pruning.Pruning(spec, tf.train.get_or_create_global_step()).mask_update_op()
    state = {"output": output, "masks": [tf.identity(one) for one in model_pruning.get_masks()]}
    return [state, {"update": update}, state]


@question
def modules():
    names = "masked_conv2d masked_convolution masked_fully_connected"
    same = [getattr(layers, name) is getattr(model_pruning, name) for name in names.split()]
    return {"same": same, "conv": layers.masked_conv2d is layers.masked_convolution}


@question
def conv():
    return named(layers.masked_conv2d(PICTURES, 2, 3))


@question
def conv_that_is_pruned():
    output = layers.masked_conv2d(PICTURES, 2, 3)
    return pruned(layers.masked_conv2d(output, 3, 2), 0.6)


@question
def conv_and_its_arguments():
    output = layers.masked_convolution(
        tf.placeholder_with_default(PICTURES, [None, 5, 4, 3]),
        2,
        [3, 2],
        stride=[2, 1],
        padding="VALID",
        activation_fn=tf.nn.tanh,
        weights_regularizer=tf.contrib.layers.l2_regularizer(0.1),
        biases_regularizer=tf.contrib.layers.l1_regularizer(0.2),
        variables_collections={"weights": ["mine"]},
        outputs_collections="out",
        scope="c",
    )
    return named(output, shape=str(output.shape))


@question
def conv_of_one_list_of_collections():
    return named(layers.masked_conv2d(PICTURES, 2, 3, variables_collections=["mine"]))


@question
def conv_at_a_rate_without_biases():
    options = {"rate": 2, "biases_initializer": None, "activation_fn": None}
    return named(layers.masked_conv2d(PICTURES, 2, 2, **options))


@question
def conv_with_a_normalizer():
    options = {"normalizer_fn": tf.contrib.layers.batch_norm}
    options["normalizer_params"] = {"scale": True, "is_training": False}
    return named(layers.masked_conv2d(PICTURES, 2, 3, **options))


@question
def conv_of_channels_first():
    """Only on GPUs; the shape is known everywhere."""
    inputs = tf.placeholder(tf.float32, [None, 3, 5, 4])
    output = layers.masked_conv2d(inputs, 2, 3, data_format="NCHW")
    return {"shape": str(output.shape), "name": output.name}


@question
def conv_that_is_not_trained():
    options = {"trainable": False, "weights_initializer": tf.ones_initializer()}
    return named(layers.masked_conv2d(PICTURES, 2, 3, **options))


@question
def conv_that_is_reused():
    first = layers.masked_conv2d(PICTURES, 3, 3, scope="c")
    return named(layers.masked_conv2d(first, 3, 3, scope="c", reuse=True))


@question
def conv_in_an_arg_scope():
    with tf.contrib.framework.arg_scope([layers.masked_conv2d], stride=2, activation_fn=None):
        return named(layers.masked_conv2d(PICTURES, 2, 3))


@question
def dense():
    return named(layers.masked_fully_connected(ROWS, 2))


@question
def dense_that_is_pruned():
    output = layers.masked_fully_connected(ROWS, 5)
    return pruned(layers.masked_fully_connected(output, 2, activation_fn=None), 0.7)


@question
def dense_and_its_arguments():
    output = layers.masked_fully_connected(
        ROWS,
        2,
        activation_fn=tf.nn.sigmoid,
        weights_regularizer=tf.contrib.layers.l2_regularizer(0.1),
        biases_regularizer=tf.contrib.layers.l1_regularizer(0.2),
        variables_collections={"weights": ["mine"], "biases": ["mine"]},
        outputs_collections="out",
        scope="d",
    )
    return named(output)


@question
def dense_of_three_axes():
    return named(layers.masked_fully_connected(numbers(2, 3, 4), 2))


@question
def dense_with_a_normalizer():
    options = {"normalizer_fn": tf.contrib.layers.batch_norm}
    return named(layers.masked_fully_connected(ROWS, 2, **options))


@question
def dense_that_is_reused():
    first = layers.masked_fully_connected(ROWS, 4, scope="d")
    return named(layers.masked_fully_connected(first, 4, scope="d", reuse=True))


@question
def dense_twice():
    first = layers.masked_fully_connected(ROWS, 4)
    return named(layers.masked_fully_connected(first, 2))


@question
def dense_of_doubles():
    return named(layers.masked_fully_connected(ROWS.astype("float64"), 2))


@question
def wrong_inputs():
    conv, full = layers.masked_convolution, layers.masked_fully_connected
    return {
        "errors": [
            tried(conv, numbers(2, 5, 3), 2, 3),
            tried(conv, numbers(2, 3, 3, 3, 1), 2, 3),
            tried(conv, PICTURES, 2, 3, data_format="HWCN"),
            tried(full, ROWS, 2.5),
            tried(full, numbers(4), 2),
        ]
    }


@question
def wrong_output_size():
    return {"output": layers.masked_fully_connected(ROWS, 2.5)}


@question
def wrong_rank():
    return {"output": layers.masked_convolution(numbers(2, 5, 3), 2, 3)}


def stepped(cell, **more):
    """Returns the outputs of a cell for two steps, and those after an update of its mask."""
    inputs = tf.constant(numbers(2, 2, 3))
    outputs, state = tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32)
    first = named(outputs, **more)
    first["own"] = [one.name for one in cell.trainable_variables]
    return [first] + pruned(outputs) + [{"state": state}]


@question
def basic_cell():
    return stepped(model_pruning.MaskedBasicLSTMCell(4))


@question
def basic_cell_and_its_arguments():
    cell = model_pruning.MaskedBasicLSTMCell(3, 0.5, False, tf.nn.relu, name="mine")
    return stepped(cell, sizes=[cell.state_size, cell.output_size])


@question
def full_cell():
    return stepped(model_pruning.MaskedLSTMCell(4))


@question
def full_cell_and_its_arguments():
    options = {"use_peepholes": True, "cell_clip": 0.1, "forget_bias": 0.3, "num_proj": None}
    return stepped(model_pruning.MaskedLSTMCell(4, **options))


@question
def cells_that_are_stacked():
    cells = [model_pruning.MaskedBasicLSTMCell(2) for _ in range(2)]
    cell = tf.nn.rnn_cell.MultiRNNCell(cells)
    return named(tf.nn.dynamic_rnn(cell, tf.constant(numbers(2, 2, 3)), dtype=tf.float32)[0])


@question
def cell_that_is_reused():
    inputs = tf.constant(numbers(2, 3))
    cell = model_pruning.MaskedBasicLSTMCell(4)
    state = cell.zero_state(2, tf.float32)
    for _ in range(2):
        output, state = cell(inputs, state)
    return named(output)


if __name__ == "__main__":
    main()
