"""Questions about the settings of tf.contrib.model_pruning: schedules, summaries, updates."""

import logging

import tensorflow as tf
from asking import main, numbers, question
from tensorflow.contrib.model_pruning.python import pruning

model_pruning = tf.contrib.model_pruning


def spec(values=""):
    return model_pruning.get_pruning_hparams().parse(values)


def weights(name="w", shape=(3, 4)):
    variable = tf.get_variable(name, list(shape))
    return model_pruning.apply_mask(variable, "m_" + name)


def schedule(values, count=12):
    """Returns the sparsity of each step."""
    step = tf.train.get_or_create_global_step()
    pruned = pruning.Pruning(spec(values), global_step=step)
    sparsity = {"sparsity": pruned._sparsity, "name": pruned._sparsity.name}
    more = {"step": tf.assign_add(step, 1)}
    return [one for _ in range(count) for one in (sparsity, more)]


@question
def schedule_of_the_defaults():
    return schedule("", 3)


@question
def schedule_of_few_steps():
    return schedule("sparsity_function_begin_step=2,sparsity_function_end_step=8")


@question
def schedule_of_a_line():
    values = "sparsity_function_exponent=1,initial_sparsity=0.2,target_sparsity=0.9,"
    return schedule(values + "sparsity_function_end_step=10,name=mine")


@question
def schedule_that_falls():
    return schedule("initial_sparsity=0.8,target_sparsity=0.1,sparsity_function_end_step=5", 7)


@question
def schedule_of_no_steps():
    return schedule("sparsity_function_begin_step=3,sparsity_function_end_step=3", 1)


@question
def schedule_backwards():
    return schedule("sparsity_function_begin_step=5,sparsity_function_end_step=3", 1)


@question
def sparsity_that_is_given():
    step = tf.train.get_or_create_global_step()
    weights()
    given = tf.constant(0.5)
    pruned = pruning.Pruning(spec(), step, sparsity=given)
    return [
        {"update": pruned.mask_update_op(), "same": pruned._sparsity is given},
        {"masks": model_pruning.get_masks()},
    ]


@question
def sparsity_that_is_given_as_a_number():
    weights()
    pruned = pruning.Pruning(spec(), tf.train.get_or_create_global_step(), 0.75)
    return [{"update": pruned.mask_update_op()}, {"masks": model_pruning.get_masks()}]


@question
def sparsity_of_a_map_that_is_given_as_a_number():
    weights()
    text = "weight_sparsity_map=[w:0.25]"
    pruned = pruning.Pruning(spec(text), tf.train.get_or_create_global_step(), 0.75)
    return [{"update": pruned.mask_update_op()}, {"masks": model_pruning.get_masks()}]


@question
def global_step_of_the_graph():
    weights()
    step = tf.train.get_or_create_global_step()
    pruned = pruning.Pruning(spec("pruning_frequency=1"))
    update = pruned.conditional_mask_update_op()
    last = {"last": pruned._last_update_step, "name": pruned._last_update_step.name}
    return [{"step": tf.assign(step, 20)}, {"update": update}, last]


@question
def global_step_that_is_a_tensor():
    weights()
    pruned = pruning.Pruning(spec("begin_pruning_step=3"), global_step=tf.constant(30, tf.int64))
    update = pruned.conditional_mask_update_op()
    return [{"update": update}, {"last": pruned._last_update_step}]


@question
def two_of_them():
    step = tf.train.get_or_create_global_step()
    weights()
    first = pruning.Pruning(spec(), step)
    second = pruning.Pruning(spec("name=other"), step)
    names = [one._last_update_step.name for one in (first, second)]
    return {"names": names, "sparsity": [one._sparsity.name for one in (first, second)]}


@question
def two_of_one_name():
    step = tf.train.get_or_create_global_step()
    weights()
    pruning.Pruning(spec(), step)
    second = pruning.Pruning(spec(), step)
    return {"name": second._last_update_step.name}


@question
def under_a_scope():
    step = tf.train.get_or_create_global_step()
    with tf.variable_scope("outer"):
        weights()
        pruned = pruning.Pruning(spec(), step)
        update = pruned.mask_update_op()
    return {"names": [pruned._last_update_step.name, pruned._sparsity.name, update.name]}


@question
def updates():
    step = tf.train.get_or_create_global_step()
    weights()
    pruned = pruning.Pruning(spec("begin_pruning_step=50,initial_sparsity=0.5"), step)
    first, second = pruned.mask_update_op(), pruned.mask_update_op()
    conditional = pruned.conditional_mask_update_op()
    return [
        {"kinds": [first.type, conditional.dtype.name], "same": first is second},
        {"update": conditional},
        {"masks": model_pruning.get_masks(), "last": pruned._last_update_step},
        {"update": first},
        {"masks": model_pruning.get_masks(), "thresholds": model_pruning.get_thresholds()},
    ]


@question
def update_without_masks():
    step = tf.train.get_or_create_global_step()
    pruned = pruning.Pruning(spec("pruning_frequency=1"), step)
    update = pruned.mask_update_op()
    return [{"step": tf.assign(step, 4)}, {"update": update}, {"last": pruned._last_update_step}]


@question
def attributes_of_assignments():
    step = tf.train.get_or_create_global_step()
    weights()
    pruned = pruning.Pruning(spec(), step)
    pruned.mask_update_op()
    return {"count": len(pruned._assign_ops), "spec": pruned._spec.name}


@question
def summaries():
    step = tf.train.get_or_create_global_step()
    weights("one")
    weights("two")
    pruned = pruning.Pruning(spec("initial_sparsity=0.5,name=mine"), step)
    pruned.add_pruning_summaries()
    names = [one.op.name for one in tf.get_collection(tf.GraphKeys.SUMMARIES)]
    written = tf.Summary()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(pruned.mask_update_op())
        written.ParseFromString(session.run(tf.summary.merge_all()))
    tags = [one.tag for one in written.value]
    return {"names": names, "tags": tags, "first": written.value[0].simple_value}


@question
def summaries_under_a_scope():
    step = tf.train.get_or_create_global_step()
    with tf.variable_scope("outer"):
        weights("one")
        pruning.Pruning(spec(), step).add_pruning_summaries()
    return {"names": [one.op.name for one in tf.get_collection(tf.GraphKeys.SUMMARIES)]}


@question
def printed_hparams():
    lines = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    logger = logging.getLogger("tensorflow")
    logger.addHandler(handler)
    tf.logging.set_verbosity(tf.logging.INFO)
    try:
        pruned = pruning.Pruning(spec("name=mine"), tf.train.get_or_create_global_step())
        pruned.print_hparams()
    finally:
        tf.logging.set_verbosity(tf.logging.ERROR)
        logger.removeHandler(handler)
    return {"lines": [line for line in lines if "{" in line]}


@question
def zeros_stay():
    weights("one", (3, 4))
    step = tf.train.get_or_create_global_step()
    pruned = pruning.Pruning(spec("initial_sparsity=0.5"), step)
    update = pruned.mask_update_op()
    assigned = tf.assign(model_pruning.get_weights()[0], numbers(3, 4) * [[0.0], [1.0], [0.0]])
    return [{"assigned": assigned}, {"update": update}, {"masks": model_pruning.get_masks()}]


if __name__ == "__main__":
    main()
