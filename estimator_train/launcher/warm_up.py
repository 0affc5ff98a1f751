"""Builds a small graph, so that a process builds the next one in less time.

TensorFlow prepares much at the first use: definitions of operations and gradients, and the
converters of AutoGraph. A fork of the standby process inherits it. No session opens and no
tf.function is traced: both start threads, which a fork loses.
"""

import importlib


def build_small_graph() -> None:
    """Builds and forgets the graph of a training step, and converts a function by AutoGraph."""
    tf = importlib.import_module("tensorflow")
    tf1 = tf.compat.v1
    with tf.Graph().as_default():
        step = tf1.train.create_global_step()
        images = tf.zeros([2, 4, 4, 1])
        data = tf.data.Dataset.from_tensor_slices((images, tf.zeros([2], tf.int32)))
        data = data.repeat().batch(2)
        features, labels = tf1.data.make_initializable_iterator(data).get_next()
        kernel = tf1.get_variable("kernel", [3, 3, 1, 2])
        hidden = tf.reshape(tf.nn.relu(tf.nn.conv2d(features, kernel, 1, "SAME")), [-1, 32])
        logits = hidden @ tf1.get_variable("weights", [32, 2]) + tf1.get_variable("bias", [2])
        loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
        tf1.summary.scalar("loss", loss)
        tf1.train.AdamOptimizer().minimize(loss, step)
        tf1.train.Saver().build()
    tf.autograph.to_graph(_example)


def _example(numbers: list[int]) -> int:
    """Adds the positive numbers; an example of the statements that AutoGraph converts."""
    total = 0
    for number in numbers:
        if number > 0:
            total += number
    return total
