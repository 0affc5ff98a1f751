"""Upper limit of the speed: a hand-written loop of steps in the graph, without the host."""

import time
from functools import cache, partial
from typing import Any

from benchmarks.training.model import (
    WINDOWS,
    TrainedModel,
    compute_steady_rate,
    cross_entropy,
    variable,
)


def train_in_loop(model: TrainedModel, quick: bool) -> float:
    """Returns the steps per second of a `while_loop` that runs one window of steps."""
    import tensorflow as tf

    tf1, window = tf.compat.v1, model.window(quick)
    with tf.Graph().as_default(), tf1.Session() as session:
        batches = tf1.data.make_initializable_iterator(model.dataset())
        with tf1.variable_scope("model", use_resource=True):
            step = _make_step(model)

        def body(count: Any) -> Any:
            with tf.control_dependencies([step(*batches.get_next())]):
                return count + 1

        run = tf1.while_loop(lambda count: count < window, body, [0], parallel_iterations=1)
        session.run([tf1.global_variables_initializer(), batches.initializer])
        marks = []
        for index in range(WINDOWS):
            session.run(run)
            marks.append(((index + 1) * window, time.time()))
    return compute_steady_rate(marks, window)


def _make_step(model: TrainedModel) -> Any:
    """Creates the variables, and returns a function from (x, classes) to a train op."""
    import tensorflow as tf
    import tf_keras

    optimizer = model.v1_optimizer()
    if model.logits is None:
        logits = tf_keras.Sequential(model.keras_layers(tf_keras.layers))
        logits.build([None, *model.shape])
    else:
        logits = partial(model.logits, cache(variable))
        logits(tf.zeros([1, *model.shape]))
    return lambda x, classes: optimizer.minimize(cross_entropy(logits(x), classes))
