"""Questions about tf.contrib.data.CheckpointInputPipelineHook."""

import os
import tempfile

import tensorflow as tf
from asking import main, question
from trying import tried


class SeenHook(tf.train.SessionRunHook):
    """Hook that collects the features of all steps."""

    def __init__(self, features, seen):
        self.features, self.seen = features, seen

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.features)

    def after_run(self, run_context, run_values):
        self.seen.append(int(run_values.results))


def jobs(numbers, make_input, **saves):
    """Returns, for each training of an Estimator, its features and the saved inputs after it."""
    seen = []

    def model_fn(features, labels, mode):
        weight = tf.get_variable("weight", [])
        loss = weight * tf.cast(features, tf.float32)
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
        hook = SeenHook(features, seen)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[hook])

    config = tf.estimator.RunConfig(tempfile.mkdtemp(), **saves)
    found = []
    for steps in numbers:
        estimator = tf.estimator.Estimator(model_fn, config=config)
        del seen[:]
        hook = tf.contrib.data.CheckpointInputPipelineHook(estimator)
        estimator.train(make_input, steps=steps, hooks=[hook])
        files = [name for name in os.listdir(config.model_dir) if "input" in name]
        state = tf.train.get_checkpoint_state(config.model_dir, "checkpoint_input")
        named = [os.path.basename(path) for path in state.all_model_checkpoint_paths]
        found.append(repr((seen, sorted(files), named)))
    return found


def count_to(end):
    return lambda: tf.data.Dataset.range(end)


@question
def continues_the_input():
    return {"jobs": jobs([5, 4], count_to(100), save_checkpoints_steps=3)}


@question
def interleaved_input():
    def make_input():
        numbers = tf.data.Dataset.range(4)
        mixed = numbers.interleave(lambda one: tf.data.Dataset.range(10 * one, 10 * one + 3), 2)
        return mixed.repeat().prefetch(3)

    return {"jobs": jobs([5, 4, 6], make_input, save_checkpoints_steps=2)}


@question
def seconds():
    return {"jobs": jobs([5, 4], count_to(100), save_checkpoints_secs=600)}


@question
def ended_input():
    return {"jobs": jobs([None, None], count_to(6), save_checkpoints_steps=4)}


@question
def keeps_five():
    return {"jobs": jobs([9], count_to(100), save_checkpoints_steps=1, keep_checkpoint_max=3)}


@question
def without_a_dataset():
    def train():
        return jobs([3], lambda: tf.constant(1), save_checkpoints_steps=3)

    return {"error": tried(train)}


@question
def without_saves():
    def train():
        return jobs([3], count_to(9), save_checkpoints_steps=None, save_checkpoints_secs=None)

    return {"error": tried(train)}


if __name__ == "__main__":
    main()
