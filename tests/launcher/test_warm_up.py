"""The small graph that the standby process builds leaves no threads and no open devices."""

from __future__ import annotations

import sys

from processes import run_process

PROGRAM = """
import gc, os, time
import tensorflow as tf
from tensorflow.python.eager import context
from estimator_train.launcher.standby_server import build_small_graph

def count_threads():
    gc.collect()
    return len(os.listdir("/proc/self/task"))

# The first operation of TensorFlow ends its threads of the import.
with tf.Graph().as_default():
    tf.zeros([])
before = count_threads()
build_small_graph()
# The kernel lists a thread for a moment after its end.
end = time.monotonic() + 60
while count_threads() > before:
    assert time.monotonic() < end, (before, count_threads())
    time.sleep(0.01)
# A program may still choose its devices and its cluster.
assert context.context()._context_handle is None
task = os.fork()
if not task:
    build_small_graph()
    with tf.compat.v1.Session(graph=tf.Graph()) as session, session.graph.as_default():
        os._exit(int(session.run(tf.constant(2) * 21)))
print(os.waitstatus_to_exitcode(os.waitpid(task, 0)[1]))
"""


def test_a_fork_builds_graphs_and_opens_sessions() -> None:
    done = run_process([sys.executable, "-c", PROGRAM])
    assert done.stdout == "42\n", done.stderr[-2000:]
