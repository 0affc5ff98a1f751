"""What queues of inputs return until they end."""

import tensorflow as tf


def drained(tensors, count):
    """Returns the values of `count` runs of tensors, and the outcome of the next run."""
    coordinator = tf.train.Coordinator()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        threads = tf.train.start_queue_runners(session, coordinator)
        seen = [session.run(tensors) for _ in range(count)]
        try:
            end = repr(session.run(tensors))
        except tf.errors.OutOfRangeError:
            end = "end"
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=5)
    return seen, end
