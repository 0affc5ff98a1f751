"""Questions about trainings with tf.contrib.model_pruning: by `train`, and by an Estimator."""

import contextlib
import tempfile

import numpy as np
import tensorflow as tf
from asking import main, numbers, question
from tensorflow.contrib.model_pruning.python import pruning
from tensorflow.contrib.model_pruning.python.layers import layers

model_pruning = tf.contrib.model_pruning
STEPS = 6
ONES = tf.ones_initializer()


def initial(shape, dtype=tf.float32, partition_info=None):
    return tf.constant(numbers(*shape), dtype)


def spec():
    values = "pruning_frequency=2,target_sparsity=0.75,sparsity_function_end_step=5"
    return model_pruning.get_pruning_hparams().parse(values + ",begin_pruning_step=1")


def saved(directory, step=None):
    """Returns the variables of a checkpoint by name."""
    path = tf.train.latest_checkpoint(directory)
    path = path if step is None else f"{directory}/model.ckpt-{step}"
    reader = tf.train.load_checkpoint(path)
    names = sorted(reader.get_variable_to_shape_map())
    return {name: np.asarray(reader.get_tensor(name)) for name in names}


def loss_of(features):
    hidden = layers.masked_fully_connected(features, 6, weights_initializer=initial, scope="one")
    with tf.variable_scope("two"):
        weights = tf.get_variable("weights", [6, 1], initializer=ONES)
        outputs = tf.matmul(hidden, model_pruning.apply_mask(weights, tf.get_variable_scope()))
    return tf.reduce_mean(tf.square(outputs - 1.0))


def model_fn(features, labels, mode, params):
    loss = loss_of(features)
    step = tf.train.get_or_create_global_step()
    train_op = tf.train.AdamOptimizer(0.05).minimize(loss, step)
    # All that Pruning reads of the step is read after it.
    with tf.control_dependencies([train_op]):
        pruned = pruning.Pruning(spec(), global_step=step)
        update = pruned.conditional_mask_update_op()
    pruned.add_pruning_summaries()
    with tf.control_dependencies([update]):
        train_op = tf.no_op()
    metrics = {
        "zeros": tf.metrics.mean(tf.stack(model_pruning.get_weight_sparsity())),
    }
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def input_fn():
    return tf.data.Dataset.from_tensors(numbers(5, 4)).repeat()


def estimator(directory, **options):
    options = dict(options, tf_random_seed=1, keep_checkpoint_max=None)
    config = tf.estimator.RunConfig(directory, **options)
    return tf.estimator.Estimator(model_fn, config=config, params={})


@question
def checkpoints_of_an_estimator():
    directory = tempfile.mkdtemp()
    estimator(directory, save_checkpoints_steps=1).train(input_fn, max_steps=STEPS)
    return [saved(directory, step) for step in range(1, STEPS + 1)]


@question
def estimator_that_continues():
    directory = tempfile.mkdtemp()
    for steps in (2, 5):
        estimator(directory).train(input_fn, max_steps=steps)
    results = estimator(directory).evaluate(input_fn, steps=1)
    return [saved(directory), {name: float(results[name]) for name in sorted(results)}]


@question
def summaries_of_an_estimator():
    directory = tempfile.mkdtemp()
    estimator(directory, save_summary_steps=2).train(input_fn, max_steps=5)
    found = {}
    for path in sorted(tf.gfile.Glob(directory + "/events*")):
        for event in tf.train.summary_iterator(path):
            for value in event.summary.value:
                if "step" not in value.tag or "last" in value.tag:
                    found.setdefault(value.tag, []).append([event.step, value.simple_value])
    return {name: found[name] for name in sorted(found) if name != "loss"}


def train(directory, steps, conditional=True, **named):
    """Trains in a loop, whose result the original cannot return: it expects a pair of slim."""
    with tf.Graph().as_default():
        tf.train.create_global_step()
        loss = loss_of(tf.constant(numbers(5, 4)))
        optimizer = tf.train.GradientDescentOptimizer(0.2)
        train_op = tf.contrib.training.create_train_op(loss, optimizer)
        pruned = pruning.Pruning(spec(), global_step=tf.train.get_global_step())
        update = pruned.conditional_mask_update_op() if conditional else pruned.mask_update_op()
        with contextlib.suppress(TypeError):
            model_pruning.train(train_op, directory, update, number_of_steps=steps, **named)


@question
def loop():
    directory = tempfile.mkdtemp()
    train(directory, STEPS)
    return saved(directory)


@question
def loop_that_continues():
    directory = tempfile.mkdtemp()
    for steps in (2, 5):
        train(directory, steps)
    return saved(directory)


@question
def loop_of_every_update():
    directory = tempfile.mkdtemp()
    train(directory, 3, conditional=False)
    return saved(directory)


@question
def loop_of_an_own_step():
    seen = []

    def step(session, train_op, global_step, options):
        masks = session.run(model_pruning.get_masks())
        loss = session.run(train_op)
        seen.append([round(float(loss), 4), sorted(options), [int(one.sum()) for one in masks]])
        return loss, len(seen) == 4

    train(tempfile.mkdtemp(), 10, train_step_fn=step)
    return {"seen": str(seen)}


@question
def loop_without_an_update():
    with tf.Graph().as_default():
        tf.train.create_global_step()
        loss = loss_of(tf.constant(numbers(5, 4)))
        train_op = tf.contrib.training.create_train_op(loss, tf.train.AdamOptimizer(0.1))
        return {"loss": model_pruning.train(train_op, tempfile.mkdtemp(), None, number_of_steps=1)}


if __name__ == "__main__":
    main()
