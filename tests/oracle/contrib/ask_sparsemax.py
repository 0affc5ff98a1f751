"""Questions about tf.contrib.sparsemax."""

import tensorflow as tf
from asking import main, numbers, question

sparsemax = tf.contrib.sparsemax.sparsemax
LABELS = [[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0]]


@question
def values_and_gradients():
    logits = tf.constant(numbers(3, 4, scale=2))
    found = sparsemax(logits)
    return {"values": found, "gradients": tf.gradients(found * numbers(3, 4), logits)[0]}


@question
def equal_values():
    return {"values": sparsemax(tf.zeros([2, 3])), "one": sparsemax(tf.ones([1, 1]))}


@question
def float64():
    return {"values": sparsemax(tf.constant(numbers(2, 3), tf.float64))}


@question
def losses():
    logits = tf.constant(numbers(3, 4, scale=2))
    loss = tf.contrib.sparsemax.sparsemax_loss(
        logits, sparsemax(logits), tf.constant(LABELS, tf.float32)
    )
    return {"losses": loss, "gradients": tf.gradients(loss, logits)[0]}


if __name__ == "__main__":
    main()
