"""A training with one thread for steps, on a store that waits for 20 more steps in each write.

`gated_job.py DIRECTORY` prints whether these steps came, for each checkpoint.
"""

import json
import sys
import threading

import fsspec
import tensorflow as tf
from fsspec.implementations.memory import MemoryFileSystem

import estimator_train as est
from estimator_train import remote

v1 = tf.compat.v1
WAIT_SECS = 60
arrived = []


class CountHook(v1.train.SessionRunHook):
    """Counts steps and writes, and lets a write begin before the steps that follow its save."""

    def __init__(self):
        self.changed = threading.Condition()
        self.steps = self.writes = 0

    def after_run(self, context, values):
        with self.changed:
            self.steps += 1
            self.changed.notify_all()
            begun = {1: 1, 101: 2}.get(self.steps, 0)
            assert self.changed.wait_for(lambda: self.writes >= begun, WAIT_SECS)

    def wait(self):
        with self.changed:
            self.writes += 1
            self.changed.notify_all()
            target = self.steps + 20
            return self.changed.wait_for(lambda: self.steps >= target, WAIT_SECS)


count = CountHook()


class GatedStore(MemoryFileSystem):
    """A store of memory that is slow for the values of checkpoints."""

    def pipe_file(self, path, value, **options):
        is_last = "model.ckpt-200" in path
        if path.endswith(".data-00000-of-00001") and not is_last:
            arrived.append(count.wait())
        return super().pipe_file(path, value, **options)


def model_fn(features, labels, mode):
    loss = v1.get_variable("w", []) + tf.reduce_sum(features)
    return est.EstimatorSpec(mode, loss=loss, train_op=v1.assign_add(v1.train.get_global_step(), 1))


def input_fn():
    return tf.data.Dataset.from_tensors([0.0]).repeat()


fsspec.register_implementation("memory", GatedStore, clobber=True)
remote.register("memory")
threads = v1.ConfigProto(inter_op_parallelism_threads=1)
config = est.RunConfig(save_checkpoints_steps=100, session_config=threads)
estimator = est.Estimator(model_fn, f"memory:/{sys.argv[1]}", config)
estimator.train(input_fn, max_steps=200, hooks=[count])
print(json.dumps(arrived))
