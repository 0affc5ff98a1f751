"""A model_fn with two hooks that keep training in loops.

    python examples/own_hooks.py runs/hooks

One hook lowers the learning rate when the loss stops decreasing; the other records the largest
gradient. `steps_until_due` returns the next step that a hook must see: the steps before it run in
a loop in the graph.
"""

import sys

import numpy as np
import tensorflow as tf

import estimator_train as est

tf1 = tf.compat.v1
WEIGHTS = np.float32([[1.0], [-2.0], [0.5]])


class LowerRate(est.SessionRunHook):
    """Hook that checks the loss every `every_steps`, and halves the rate if it is not lower."""

    def __init__(self, loss: tf.Tensor, rate: tf.Variable, every_steps: int) -> None:
        self._loss, self._every_steps = loss, every_steps
        self._previous_loss = float("inf")
        self._new_rate = tf1.placeholder(tf.float32, [])
        self._set_rate = rate.assign(self._new_rate)
        self._rate = rate

    def steps_until_due(self, global_step: int) -> int:
        """Returns the number of steps to the next step that this hook must see."""
        return self._every_steps - global_step % self._every_steps

    def before_run(self, run_context: est.SessionRunContext) -> est.SessionRunArgs:
        """Fetches the loss and the rate of this step."""
        return est.SessionRunArgs([self._loss, self._rate])

    def after_run(
        self, run_context: est.SessionRunContext, run_values: est.SessionRunValues
    ) -> None:
        """Halves the rate if the loss is not lower than before."""
        loss, rate = run_values.results
        if loss >= self._previous_loss:
            run_context.session.run(self._set_rate, {self._new_rate: rate / 2})
            print(f"loss {loss:.5f}, learning rate {rate / 2:.4f}")
        self._previous_loss = loss


class LargestGradient(est.SessionRunHook):
    """Hook that records the largest norm of the gradient, which it checks every `every_steps`."""

    def __init__(self, norm: tf.Tensor, every_steps: int) -> None:
        self._norm, self._every_steps, self.largest = norm, every_steps, 0.0

    def steps_until_due(self, global_step: int) -> int:
        """Returns the number of steps to the next step that this hook must see."""
        return self._every_steps - global_step % self._every_steps

    def before_run(self, run_context: est.SessionRunContext) -> est.SessionRunArgs:
        """Fetches the norm."""
        return est.SessionRunArgs(self._norm)

    def after_run(
        self, run_context: est.SessionRunContext, run_values: est.SessionRunValues
    ) -> None:
        """Updates the largest norm."""
        self.largest = max(self.largest, run_values.results)

    def end(self, session: tf1.Session) -> None:
        """Prints the largest norm."""
        print(f"largest gradient {self.largest:.4f}")


def model_fn(features: tf.Tensor, labels: tf.Tensor, mode: str) -> est.EstimatorSpec:
    """Builds linear regression with a learning rate that a hook sets."""
    weights = tf1.get_variable("weights", [3, 1], initializer=tf1.zeros_initializer())
    loss = tf.reduce_mean(tf.square(features @ weights - labels))
    rate = tf1.get_variable("rate", [], initializer=tf1.constant_initializer(0.1), trainable=False)
    (gradient,) = tf.gradients(loss, [weights])
    train = tf1.train.GradientDescentOptimizer(rate).apply_gradients(
        [(gradient, weights)], tf1.train.get_global_step()
    )
    hooks = [LowerRate(loss, rate, 50), LargestGradient(tf.norm(gradient), 10)]
    return est.EstimatorSpec(mode, loss=loss, train_op=train, training_hooks=hooks)


def input_fn() -> tf.data.Dataset:
    """Returns infinite batches with some noise."""
    random = np.random.default_rng(0)
    x = random.normal(size=(1000, 3)).astype(np.float32)
    y = x @ WEIGHTS + random.normal(0, 0.1, [1000, 1]).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1000, seed=0).repeat().batch(16)


estimator = est.Estimator(model_fn, sys.argv[1])
estimator.train(input_fn, steps=500)
print("weights", *estimator.get_variable_value("weights").ravel().round(1))
