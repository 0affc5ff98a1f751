"""What the optimizers of canned estimators are in a graph."""

import tensorflow as tf
import tf_keras

from estimator_train.canned.arguments import KerasChoice


def test_a_scheduled_rate_is_created_after_the_global_steps_value():
    def make():
        schedule = tf_keras.optimizers.schedules.ExponentialDecay(0.1, 100, 0.96)
        return tf_keras.optimizers.Ftrl(schedule)

    with tf.Graph().as_default():
        steps = KerasChoice(make, 0.1).make().iterations
        before = [
            operation.control_inputs
            for operation in steps.handle.consumers()
            if operation.name.startswith("ExponentialDecay") and operation.inputs[0] is steps.handle
        ]
        assert before == [[steps.initializer]]
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            session.run(steps.assign(7))
            assert session.run(steps) == 7  # Reading it resets nothing.
