"""Questions about tf.contrib.metrics: kappa, false rates; and about other small modules."""

import tensorflow as tf
from asking import main, numbers, question, signature

metrics = tf.contrib.metrics
LABELS = [0, 1, 1, 2, 0, 1, 2, 2]
FOUND = [0, 1, 2, 2, 0, 0, 2, 1]


def updated(pair):
    """The value before and after two updates."""
    value, update = pair
    return [{"value": value}, {"update": update}, {"update": update}, {"value": value}]


@question
def arguments():
    names = "cohen_kappa streaming_false_negative_rate streaming_false_positive_rate"
    return {name: signature(getattr(metrics, name)) for name in names.split()}


@question
def cohen_kappa():
    return updated(metrics.cohen_kappa(tf.constant(LABELS), tf.constant(FOUND), 3))


@question
def cohen_kappa_with_weights():
    return updated(metrics.cohen_kappa(tf.constant(LABELS), tf.constant(FOUND), 3, [1.0, 2.0] * 4))


@question
def false_negative_rate():
    return updated(
        metrics.streaming_false_negative_rate(tf.constant([1, 0, 0, 1]), tf.constant([1, 1, 0, 0]))
    )


@question
def false_positive_rate():
    return updated(
        metrics.streaming_false_positive_rate(
            tf.constant([1, 0, 0, 1]), tf.constant([1, 1, 0, 0]), [1.0, 1.0, 0.5, 1.0]
        )
    )


@question
def projections():
    rnn, inputs = tf.contrib.rnn, tf.constant(numbers(2, 4, 3))
    cell = rnn.OutputProjectionWrapper(rnn.GRUCell(4), 2, tf.nn.relu)
    outputs, state = tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32, scope="a")
    other = rnn.InputProjectionWrapper(rnn.GRUCell(4), 5)
    more, _ = tf.nn.dynamic_rnn(other, inputs, dtype=tf.float32, scope="b")
    return {"outputs": outputs, "state": state, "more": more, "size": cell.output_size}


@question
def alpha_dropout():
    dropped = tf.contrib.nn.alpha_dropout(tf.ones([1000]), 0.75, seed=1)
    distinct, _ = tf.unique(tf.round(dropped * 1e4))
    return {"distinct": tf.sort(distinct), "same": tf.contrib.nn.alpha_dropout(tf.ones([2]), 1.0)}


def sampled(**arguments):
    """Returns losses of two examples; one of the sampled classes is a label if it is 1."""
    samples = (tf.constant([0, 1, 4], tf.int64), tf.constant([[0.5], [0.25]]), tf.ones([3]))
    return tf.contrib.nn.sampled_sparse_softmax_loss(
        tf.constant(numbers(5, 4)),
        tf.constant(numbers(5)),
        tf.constant([[1], [3]], tf.int64),
        tf.constant(numbers(2, 4, start=3)),
        3,
        5,
        sampled_values=samples,
        **arguments,
    )


@question
def sampled_sparse_softmax_loss():
    return {
        "losses": sampled(),
        "with hits": sampled(remove_accidental_hits=False),
        "arguments": signature(tf.contrib.nn.sampled_sparse_softmax_loss),
    }


if __name__ == "__main__":
    main()
