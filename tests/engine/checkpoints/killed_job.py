"""A training that the system kills while it writes its first checkpoint: `killed_job.py MODEL_DIR`.

A file of more than a megabyte is an error whose signal ends the process.
"""

import resource
import signal
import sys

import tensorflow as tf

import estimator_train as est


def model_fn(features, labels, mode):
    loss = tf.reduce_sum(tf.compat.v1.get_variable("large", [2**20]))
    step = tf.compat.v1.train.get_global_step()
    return est.EstimatorSpec(mode, loss=loss, train_op=tf.compat.v1.assign_add(step, 1))


def input_fn():
    return tf.data.Dataset.from_tensors([0.0]).repeat()


resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, resource.RLIM_INFINITY))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it.
est.Estimator(model_fn, sys.argv[1]).train(input_fn, steps=5)
