"""Questions about tf.contrib.model_pruning: masks of weights, and Pruning, which updates them."""

import tensorflow as tf
from asking import main, numbers, question, signature
from tensorflow.contrib.model_pruning.python import pruning

model_pruning = tf.contrib.model_pruning
COLLECTIONS = "kernel masks thresholds masked_weights"


def spec(values=""):
    return model_pruning.get_pruning_hparams().parse(values)


def members(collections=COLLECTIONS):
    return [" ".join(one.name for one in tf.get_collection(key)) for key in collections.split()]


def masked(name="layer", shape=(4, 5), scope="", **options):
    """Returns trained weights of a layer and their masked values."""
    with tf.variable_scope(name):
        weights = tf.get_variable("weights", list(shape), **options)
        return weights, model_pruning.apply_mask(weights, scope)


def steps(values, count, shapes=((4, 5),), step_size=0.3, **options):
    """Returns what remains after each of some training steps with a mask update.

    Both have their own session call: otherwise the update may read the global step too early.

    Args:
      values: Text of the hyperparameters.
      count: Number of steps.
      shapes: Shapes of the weights of each layer.
      step_size: Learning rate.
      **options: Arguments of the variables.
    """
    step = tf.train.get_or_create_global_step()
    layers = [
        masked(f"layer{number}", shape, "m", **options) for number, shape in enumerate(shapes)
    ]
    pruned = pruning.Pruning(spec(values), global_step=step)
    loss = tf.add_n([tf.reduce_sum(tf.square(output - 0.3)) for _, output in layers])
    train = tf.train.GradientDescentOptimizer(step_size).minimize(loss, step)
    update = pruned.conditional_mask_update_op()
    state = {
        "masks": model_pruning.get_masks(),
        "thresholds": model_pruning.get_thresholds(),
        "weights": model_pruning.get_weights(),
        "fractions": model_pruning.get_weight_sparsity(),
        "last": pruned._last_update_step,
    }
    return [one for _ in range(count) for one in ({"train": train}, {"update": update}, state)]


@question
def signatures():
    names = "apply_mask get_masked_weights get_masks get_pruning_hparams get_thresholds "
    names += "get_weight_sparsity get_weights masked_conv2d masked_convolution "
    names += "masked_fully_connected train graph_def_from_checkpoint strip_pruning_vars_fn"
    return {name: signature(getattr(model_pruning, name)) for name in names.split()}


@question
def signatures_of_classes():
    kinds = [model_pruning.Pruning, model_pruning.MaskedBasicLSTMCell, model_pruning.MaskedLSTMCell]
    methods = "mask_update_op conditional_mask_update_op add_pruning_summaries print_hparams"
    return {
        "classes": str([(one.__name__, signature(one.__init__)) for one in kinds]),
        "methods": str([signature(getattr(pruning.Pruning, name)) for name in methods.split()]),
        "cells": [issubclass(one, tf.nn.rnn_cell.RNNCell) for one in kinds],
    }


@question
def default_hparams():
    values = model_pruning.get_pruning_hparams().values()
    return {"values": [str(pair) for pair in sorted(values.items())]}


@question
def mask():
    weights, output = masked(scope="here")
    return {"output": output, "name": output.name, "members": members()}


@question
def mask_without_a_scope():
    _, output = masked()
    return {"output": output, "name": output.name, "members": members()}


@question
def mask_in_a_variable_scope():
    with tf.variable_scope("outer") as scope:
        weights = tf.get_variable("w", [2, 3])
        output = model_pruning.apply_mask(weights, scope)
    return {"output": output, "name": output.name, "members": members()}


@question
def mask_of_a_tensor_of_doubles():
    output = model_pruning.apply_mask(tf.constant(numbers(2, 3).astype("float64")), "d")
    return {"output": output, "name": output.name, "members": members()}


@question
def mask_of_an_array():
    return {"output": model_pruning.apply_mask(numbers(2, 3), "d")}


@question
def masks_of_equal_names():
    weights = [tf.get_variable(name, [2, 2]) for name in "ab"]
    return {"outputs": [model_pruning.apply_mask(one, "same") for one in weights]}


@question
def masks_that_are_reused():
    for _ in range(2):
        with tf.variable_scope("outer", reuse=tf.AUTO_REUSE):
            _, output = masked(scope="s")
    return {"output": output, "name": output.name, "members": members()}


@question
def masks_under_a_custom_getter():
    def getter(getter, name, *arguments, **options):
        return getter(name + "_own", *arguments, **options)

    with tf.variable_scope("outer", custom_getter=getter):
        _, output = masked(scope="s")
    return {"output": output, "members": members()}


@question
def getters():
    masked("one", (2, 3))
    masked("two", (3, 2))
    names = "get_masks get_thresholds get_weights get_masked_weights"
    found = [getattr(model_pruning, name)() for name in names.split()]
    return {"names": [[one.name for one in some] for some in found]}


@question
def fractions_of_zeros():
    masked("one", (2, 3))
    masked("two", (3, 2))
    fractions = model_pruning.get_weight_sparsity()
    return {"fractions": fractions, "count": len(fractions)}


@question
def fractions_without_masks():
    return {"fractions": str(model_pruning.get_weight_sparsity())}


@question
def steps_of_the_defaults():
    return steps("", 4)


@question
def steps_of_two_layers():
    values = "pruning_frequency=2,target_sparsity=0.8,sparsity_function_end_step=6"
    return steps(values, 8, [(4, 5), (3, 3, 2, 2)])


@question
def steps_between_a_begin_and_an_end():
    values = "begin_pruning_step=2,end_pruning_step=5,pruning_frequency=1,"
    values += "sparsity_function_end_step=8,target_sparsity=0.75"
    return steps(values, 8)


@question
def steps_of_a_decaying_threshold():
    values = "threshold_decay=0.6,pruning_frequency=1,initial_sparsity=0.3,target_sparsity=0.6"
    return steps(values + ",sparsity_function_end_step=5", 6)


@question
def steps_of_all_weights():
    values = "pruning_frequency=1,initial_sparsity=0.9,target_sparsity=0.99"
    return steps(values + ",sparsity_function_end_step=3", 5, [(2, 3)])


@question
def steps_of_resource_variables():
    return steps("pruning_frequency=1,initial_sparsity=0.4", 3, use_resource=True)


@question
def steps_of_doubles():
    return steps("pruning_frequency=1,initial_sparsity=0.4", 3, dtype=tf.float64)


@question
def steps_of_a_map():
    values = "weight_sparsity_map=[layer0/weights:0.9,layer1.*:0.25],pruning_frequency=1,"
    values += "sparsity_function_end_step=4"
    return steps(values, 6, [(4, 5), (5, 4), (3, 4)])


@question
def steps_of_blocks():
    values = "block_height=2,block_width=2,pruning_frequency=1,initial_sparsity=0.4"
    return steps(values, 3, [(4, 6), (5, 3)])


@question
def steps_of_blocks_by_maximum():
    values = "block_height=2,block_width=3,block_pooling_function=MAX,pruning_frequency=1,"
    return steps(values + "initial_sparsity=0.5", 3, [(4, 6)])


@question
def steps_of_blocks_of_kernels():
    values = "block_height=2,block_width=1,pruning_frequency=1,initial_sparsity=0.5"
    return steps(values, 2, [(1, 1, 4, 2), (3, 3, 2, 2)])


@question
def steps_of_blocks_of_a_map():
    values = "block_dims_map=[layer0/weights:2x2,layer1/.*:1x3],pruning_frequency=1,"
    return steps(values + "initial_sparsity=0.5", 3, [(4, 4), (4, 3), (2, 2)])


@question
def steps_of_blocks_of_columns():
    values = "block_height=4,block_width=1,threshold_decay=0.5,pruning_frequency=1,"
    return steps(values + "initial_sparsity=0.5", 3, [(4, 6)])


@question
def steps_for_a_tpu():
    values = "block_height=2,block_width=2,use_tpu=true,pruning_frequency=1,initial_sparsity=0.5"
    return steps(values, 2, [(4, 4)])


@question
def steps_of_partitions():
    step = tf.train.get_or_create_global_step()
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2, 1)):
        weights, output = masked(shape=(4, 6), scope="m")
    pruned = pruning.Pruning(spec("initial_sparsity=0.4,block_width=2"), step)
    update = pruned.mask_update_op()
    kinds = [type(one).__name__ for one in model_pruning.get_masks()]
    masks = [tf.identity(mask) for mask in model_pruning.get_masks()]
    return [{"update": update, "kinds": kinds}, {"masks": masks, "output": output}]


if __name__ == "__main__":
    main()
