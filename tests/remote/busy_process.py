"""Reads, writes and saves in many threads, then ends with open event files.

Call it with a directory, the seconds and the way to end: return, exception, SystemExit, or fork: a
process that it forks, after the library is loaded, does all this and returns.
"""

import gc
import os
import sys
import threading
import time

import tensorflow as tf

from estimator_train import remote

ROOT, SECONDS, WAY = sys.argv[1], float(sys.argv[2]), sys.argv[3]
v1 = tf.compat.v1
gfile = tf.io.gfile
errors = []
deadline = 0.0


def repeat(action):
    def run():
        count = 0
        while time.monotonic() < deadline:
            try:
                action(count)
            except Exception as error:
                errors.append((action.__name__, repr(error)))
                return
            count += 1

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def write_records(number):
    for kind in ("", "GZIP"):
        with tf.io.TFRecordWriter(f"{ROOT}/written{kind}", kind) as writer:
            for _ in range(100):
                writer.write(b"y" * 3000)
            writer.flush()


def read_in_parallel(number):
    paths = [f"{ROOT}/records{part}" for part in range(4)]
    assert sum(1 for _ in tf.data.TFRecordDataset(paths, num_parallel_reads=4)) == 800


def iterate(number):
    assert sum(1 for _ in v1.io.tf_record_iterator(f"{ROOT}/records0")) == 200


def save(number):
    manager.save(number)
    v1.train.NewCheckpointReader(manager.latest_checkpoint).get_variable_to_shape_map()


def add_event(number):
    value = v1.Summary.Value(tag="loss", simple_value=number)
    writer.add_summary(v1.Summary(value=[value]), number)
    writer.flush()
    time.sleep(0.005)


def look(number):
    gfile.glob(f"{ROOT}/*")
    gfile.stat(f"{ROOT}/records1")


remote.register(ROOT.partition("://")[0])
if WAY == "fork" and (child := os.fork()):
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
sys.setswitchinterval(1e-4)
gfile.makedirs(ROOT)
for part in range(4):
    with tf.io.TFRecordWriter(f"{ROOT}/records{part}") as file:
        for _ in range(200):
            file.write(b"x" * 5000)
with tf.Graph().as_default():
    writer = v1.summary.FileWriter(f"{ROOT}/events")
manager = tf.train.CheckpointManager(
    tf.train.Checkpoint(v=tf.Variable(tf.random.uniform([400, 1000]))), f"{ROOT}/model", 2
)
deadline = time.monotonic() + SECONDS
actions = (write_records, read_in_parallel, read_in_parallel, iterate, save, add_event, look)
threads = [repeat(action) for action in actions]
while time.monotonic() < deadline:
    sum(range(20000))
    gfile.exists(f"{ROOT}/records0")
    gc.collect()
for thread in threads:
    thread.join(60)
assert not errors, errors
assert not any(thread.is_alive() for thread in threads)
for step in range(1000, 1010):  # They come after the last publication.
    add_event(step)
print("ready", flush=True)
if WAY == "exception":
    raise LookupError("the program ends")
if WAY == "SystemExit":
    sys.exit(7)
