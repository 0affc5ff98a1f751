"""Questions about the graphs without masks that tf.contrib.model_pruning makes for serving."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from asking import main, numbers, question
from tensorflow.contrib.model_pruning.python import strip_pruning_vars_lib
from trying import tried

model_pruning = tf.contrib.model_pruning
ROWS = numbers(2, 3)


def initial(shape, dtype=tf.float32, partition_info=None):
    return tf.constant(numbers(*shape), dtype)


def build():
    """Returns the outputs of a layer and of masked weights."""
    inputs = tf.placeholder(tf.float32, [None, 3], name="x")
    options = {"weights_initializer": initial, "activation_fn": None}
    hidden = model_pruning.masked_fully_connected(inputs, 2, **options)
    weights = tf.get_variable("w", [2, 2], initializer=initial)
    outputs = tf.matmul(hidden, model_pruning.apply_mask(weights, "m"))
    return tf.identity(outputs, name="y"), tf.identity(hidden + 1, name="other")


def save(directory):
    """Saves a graph whose first mask is not full."""
    with tf.Graph().as_default(), tf.Session() as session:
        build()
        session.run(tf.global_variables_initializer())
        mask = np.array([[0, 1], [1, 0], [1, 1]], np.float32)
        model_pruning.get_masks()[0].load(mask, session)
        tf.train.Saver().save(session, os.path.join(directory, "model.ckpt"), global_step=3)


def frozen(*outputs):
    directory = tempfile.mkdtemp()
    save(directory)
    # The original adds the operations of the checkpoint to the default graph.
    with tf.Graph().as_default():
        return model_pruning.graph_def_from_checkpoint(directory, list(outputs))


def described(graph_def, *outputs):
    """Returns the operations of a graph, which do not depend on their order, and its outputs."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        feeds = {"x:0": ROWS}
        values = {name: session.run(name + ":0", feeds) for name in outputs}
        operations = sorted([one.name, one.type] for one in graph.get_operations())
    return dict(values, operations=operations)


@question
def graph_of_a_checkpoint():
    return described(frozen("y"), "y")


@question
def graph_of_two_outputs():
    return described(frozen("y", "other"), "y", "other")


@question
def stripped():
    return described(model_pruning.strip_pruning_vars_fn(frozen("y"), ["y"]), "y")


@question
def stripped_of_one_of_two_outputs():
    graph_def = frozen("y", "other")
    return described(model_pruning.strip_pruning_vars_fn(graph_def, ["other"]), "other")


@question
def stripped_without_masks():
    with tf.Graph().as_default() as graph:
        inputs = tf.placeholder(tf.float32, [None, 3], name="x")
        tf.matmul(inputs, tf.constant(numbers(3, 2)), name="y")
    return described(model_pruning.strip_pruning_vars_fn(graph.as_graph_def(), ["y"]), "y")


@question
def module():
    names = ("graph_def_from_checkpoint", "strip_pruning_vars_fn")
    lib = strip_pruning_vars_lib
    return {"same": [getattr(lib, name) is getattr(model_pruning, name) for name in names]}


@question
def errors():
    graph_def = frozen("y")
    directory = tempfile.mkdtemp()
    save(directory)
    strip, load = model_pruning.strip_pruning_vars_fn, model_pruning.graph_def_from_checkpoint
    calls = [
        (load, directory, ["nothing"]),
        (load, directory, "y"),
        (load, os.path.join(directory, "none"), ["y"]),
        (strip, graph_def, ["nothing"]),
        (strip, graph_def, "y"),
    ]
    with tf.Graph().as_default():
        return {"errors": [tried(*call) for call in calls]}


if __name__ == "__main__":
    main()
