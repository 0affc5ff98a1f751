"""Trains on a table, and kills itself: `killed_job.py FOLDER MODEL_DIR LOG KILLED_AT LAST_STEP`.

Each step adds a line to LOG: its number, and the ids of its rows.
"""

import os
import signal
import sys

import tensorflow as tf

import estimator_train as est
import input_fns

tf1 = tf.compat.v1
folder, model_dir, log = sys.argv[1:4]
killed_at, last_step = map(int, sys.argv[4:])


def input_fn():
    return input_fns.parquet(folder, "y", batch_size=13, shuffle=True, buffer_size=70, seed=5)


def model_fn(features, labels, mode):
    weight = tf1.get_variable("weight", [], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(weight - tf.cast(labels, tf.float32)))
    step = tf1.train.get_global_step()
    tf1.add_to_collection("ids", features["id"])
    train = tf1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    return est.EstimatorSpec(mode, loss=loss, train_op=train)


class LogHook(tf1.train.SessionRunHook):
    """Writes the ids of each step, and kills the process."""

    def begin(self):
        self.fetches = [tf1.get_collection("ids")[0], tf1.train.get_global_step()]

    def before_run(self, run_context):
        return tf1.train.SessionRunArgs(self.fetches[0])

    def after_run(self, run_context, run_values):
        step = int(run_context.session.run(self.fetches[1]))
        with open(log, "a", encoding="utf-8") as file:
            print(step, *run_values.results, file=file)
        if step == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)


config = est.RunConfig(save_input_position=True, save_checkpoints_steps=7)
est.Estimator(model_fn, model_dir, config).train(input_fn, hooks=[LogHook()], max_steps=last_step)
