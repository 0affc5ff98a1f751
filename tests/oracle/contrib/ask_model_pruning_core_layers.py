"""Questions about the layers of tf.layers with masks in tf.contrib.model_pruning."""

import tensorflow as tf
from asking import main, numbers, question
from tensorflow.contrib.model_pruning.python import pruning
from tensorflow.contrib.model_pruning.python.layers import core_layers

model_pruning = tf.contrib.model_pruning
PICTURES = numbers(2, 5, 4, 3)
ROWS = numbers(3, 4)


def described(layer, inputs, sparsity=0.6):
    """Returns the output of a layer and its variables, also after an update of its mask."""
    output = layer(tf.constant(inputs))
    spec = model_pruning.get_pruning_hparams()
    spec.initial_sparsity = sparsity
    update = pruning.Pruning(spec, tf.train.get_or_create_global_step()).mask_update_op()
    collections = (
        core_layers.WEIGHT_COLLECTION,
        core_layers.MASK_COLLECTION,
        core_layers.THRESHOLD_COLLECTION,
        core_layers.MASKED_WEIGHT_COLLECTION,
    )
    names = {
        "members": [" ".join(one.name for one in tf.get_collection(key)) for key in collections],
        "own": [one.name for one in layer.weights],
        "trained": [one.name for one in layer.trainable_weights],
        "masked": layer.masked_kernel.name,
        "variables": [layer.kernel.name, layer.mask.name, layer.threshold.name],
        "losses": len(layer.losses),
        "shape": str(layer.compute_output_shape(inputs.shape)),
    }
    return [dict(names, output=output), {"update": update}, {"output": output, "mask": layer.mask}]


@question
def names():
    keys = "WEIGHT_COLLECTION MASK_COLLECTION THRESHOLD_COLLECTION MASKED_WEIGHT_COLLECTION "
    return {key: getattr(core_layers, key) for key in (keys + "MASKED_WEIGHT_NAME").split()}


@question
def conv():
    return described(core_layers.MaskedConv2D(2, 3), PICTURES)


@question
def conv_and_its_arguments():
    layer = core_layers.MaskedConv2D(
        2,
        [3, 2],
        strides=2,
        padding="same",
        activation=tf.nn.relu,
        kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1),
        bias_initializer=tf.ones_initializer(),
        name="mine",
    )
    return described(layer, PICTURES)


@question
def conv_at_a_rate_without_biases():
    return described(core_layers.MaskedConv2D(3, 2, dilation_rate=2, use_bias=False), PICTURES)


@question
def dense():
    return described(core_layers.MaskedFullyConnected(2), ROWS)


@question
def dense_of_three_axes():
    return described(core_layers.MaskedFullyConnected(3, tf.tanh, name="d"), numbers(2, 3, 4))


@question
def dense_without_biases():
    return described(core_layers.MaskedFullyConnected(3, use_bias=False), ROWS)


@question
def dense_that_is_called_twice():
    layer = core_layers.MaskedFullyConnected(4)
    output = layer(layer(tf.constant(ROWS)))
    return {"output": output, "name": output.name, "count": len(model_pruning.get_masks())}


@question
def dense_that_is_not_trained():
    options = {"kernel_initializer": tf.ones_initializer(), "trainable": False}
    return described(core_layers.MaskedFullyConnected(2, **options), ROWS)


@question
def dense_of_a_vector():
    return {"output": core_layers.MaskedFullyConnected(2)(tf.constant(numbers(4)))}


if __name__ == "__main__":
    main()
