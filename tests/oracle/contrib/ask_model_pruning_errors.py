"""Questions about the errors of tf.contrib.model_pruning, and about its blocks of weights."""

import tensorflow as tf
from asking import main, question
from tensorflow.contrib.model_pruning.python import pruning

model_pruning = tf.contrib.model_pruning


def spec(values=""):
    return model_pruning.get_pruning_hparams().parse(values)


def weights(name="w", shape=(3, 4)):
    variable = tf.get_variable(name, list(shape))
    return model_pruning.apply_mask(variable, "m_" + name)


def errors(*texts, **options):
    """Returns the error of each text of hyperparameters, or the name of the update.

    Args:
      *texts: Texts of hyperparameters.
      **options: `types`: whether only the types of errors are returned.
    """
    weights("one")
    weights("two")
    answers = []
    for text in texts:
        try:
            step = tf.train.get_or_create_global_step()
            answers.append(pruning.Pruning(spec(text), step).mask_update_op().name)
        except Exception as error:  # noqa: BLE001  whatever comes is the answer
            text = "" if options.get("types") else f": {error}"
            answers.append(type(error).__name__ + text)
    return {"answers": answers}


@question
def without_a_global_step():
    weights()
    pruned = pruning.Pruning()
    return {"update": pruned.conditional_mask_update_op()}


@question
def wrong_steps():
    return errors(
        "begin_pruning_step=-1",
        "begin_pruning_step=5,end_pruning_step=5",
        "begin_pruning_step=5,end_pruning_step=4",
        "begin_pruning_step=5,end_pruning_step=-1,name=a",
        "end_pruning_step=-2",
        "end_pruning_step=0,name=b",
        "pruning_frequency=0,name=f",
        "sparsity_function_begin_step=-1,name=g",
        "sparsity_function_begin_step=100",
        "sparsity_function_begin_step=101",
        "sparsity_function_end_step=0,name=h",
    )


@question
def wrong_numbers():
    return errors(
        "threshold_decay=-0.1",
        "threshold_decay=1.0",
        "threshold_decay=1.1",
        "initial_sparsity=-0.1",
        "initial_sparsity=1.0",
        "initial_sparsity=1.1",
        "target_sparsity=-0.1",
        "target_sparsity=1.0",
        "target_sparsity=1.1",
        "nbins=0,name=n",
        "sparsity_function_exponent=0,name=e",
        "sparsity_function_exponent=-1,name=d",
        "block_width=-1",
        "block_height=2,block_pooling_function=MIN,name=m",
        "block_pooling_function=MIN,name=o",
    )


@question
def wrong_maps():
    return errors(
        "weight_sparsity_map=[one]",
        "weight_sparsity_map=[one:two]",
        "weight_sparsity_map=[one:1.5]",
        "weight_sparsity_map=[one:-0.5]",
        "weight_sparsity_map=[one:1.0,two:0.0],name=a",
        "weight_sparsity_map=[one:0.5,on.*:0.6],name=b",
        "weight_sparsity_map=[three:0.5],name=c",
        "weight_sparsity_map=[ne:0.5],name=d",
        "weight_sparsity_map=[on:0.5],name=e",
        "weight_sparsity_map=[a:b:0.5],name=f",
        types=True,
    )


@question
def wrong_blocks():
    return errors(
        "block_dims_map=[one]",
        "block_dims_map=[one:2]",
        "block_dims_map=[one:2x]",
        "block_dims_map=[one:0x2]",
        "block_dims_map=[one:2x2x2]",
        "block_dims_map=[one:2x2,on.*:2x2],name=a",
        "block_dims_map=[three:2x2],name=b",
        "block_dims_map=[o:2x2],name=d",
        "block_dims_map=[one:axb]",
        "block_height=2,block_dims_map=[one:2x2],name=c",
        "block_height=0",
        "block_width=-2",
        types=True,
    )


@question
def matches_of_several_entries():
    return errors(
        "weight_sparsity_map=[one:0.5,on.*:0.6]",
        "block_dims_map=[one:2x2,on.*:2x2]",
        "weight_sparsity_map=[one:1.5]",
        "block_dims_map=[one:2]",
    )


@question
def masks_without_a_threshold():
    weights("one")
    tf.add_to_collection("masks", tf.constant(1.0))
    pruning.Pruning(spec(), tf.train.get_or_create_global_step()).mask_update_op()


@question
def blocks_as_large_as_the_weights():
    weights("w", (4, 6))
    masks = []
    step = tf.train.get_or_create_global_step()
    values = ("block_width=-1", "block_height=-1", "block_height=2,block_width=-1")
    for value in values:
        pruned = pruning.Pruning(spec(value + ",initial_sparsity=0.5"), step)
        masks += [{"update": pruned.mask_update_op()}, {"masks": model_pruning.get_masks()}]
    return masks


@question
def sparsity_of_blocks_of_a_map():
    weights("w", (4, 6))
    text = "block_width=2,initial_sparsity=0.5,target_sparsity=0.4,weight_sparsity_map=[w:0.2]"
    pruned = pruning.Pruning(spec(text), tf.train.get_or_create_global_step())
    return [{"update": pruned.mask_update_op()}, {"masks": model_pruning.get_masks()}]


@question
def weights_of_three_axes_in_blocks():
    weights("three", (2, 2, 2))
    text = "block_height=2,block_width=2"
    pruned = pruning.Pruning(spec(text), tf.train.get_or_create_global_step())
    return {"update": pruned.mask_update_op().name}


@question
def weights_of_one_axis_in_blocks():
    weights("one", (4,))
    text = "block_height=2,block_width=2"
    pruned = pruning.Pruning(spec(text), tf.train.get_or_create_global_step())
    return {"update": pruned.mask_update_op().name}


if __name__ == "__main__":
    main()
