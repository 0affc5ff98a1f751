#!/usr/bin/env bash
# tensorflow 2.21.0 and numpy 2.4.6, Python 3.11, x86-64 Linux.
#
# Two sessions with inter_op_parallelism_threads=1, each of a graph of its own: while an operation of
# one waits, here a Python function, the other computes no step, although it shares nothing with it:
# both take threads of one pool of the process. A SaveV2 on a slow store has the same effect, so that
# a checkpoint that a thread writes stops the training. RunOptions(inter_op_thread_pool=-1) of the
# waiting call computes in its own thread; use_per_session_threads=True gives each session a pool.
#
# Output seen:
#   the other session computes a step meanwhile: False
#   with use_per_session_threads=True: True
#   with inter_op_thread_pool=-1 for the waiting call: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/sessions.py" <<'PYTHON'
import threading

import tensorflow as tf

v1 = tf.compat.v1
started, released = threading.Event(), threading.Event()


def wait(value):
    started.set()
    released.wait(30)
    return value


def steps_meanwhile(options=None, **settings):
    started.clear()
    released.clear()
    config = v1.ConfigProto(inter_op_parallelism_threads=1, **settings)
    with tf.Graph().as_default():
        waited = tf.numpy_function(wait, [tf.constant(1.0)], tf.float32)
        waiting = v1.Session(config=config)
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [])
        total = tf.add_n([x * factor for factor in range(4)])
        training = v1.Session(config=config)
    training.run(total, {x: 1.0})
    first = threading.Thread(target=waiting.run, args=(waited,), kwargs={"options": options})
    first.start()
    started.wait()
    has_stepped = threading.Event()

    def step():
        training.run(total, {x: 1.0})
        has_stepped.set()

    second = threading.Thread(target=step)
    second.start()
    answer = has_stepped.wait(10)
    released.set()
    first.join()
    second.join()
    return answer


print("the other session computes a step meanwhile:", steps_meanwhile())
print("with use_per_session_threads=True:", steps_meanwhile(use_per_session_threads=True))
own_thread = v1.RunOptions(inter_op_thread_pool=-1)
print("with inter_op_thread_pool=-1 for the waiting call:", steps_meanwhile(own_thread))
PYTHON
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorflow==2.21.0 numpy==2.4.6
TF_CPP_MIN_LOG_LEVEL=3 "$folder/venv/bin/python" "$folder/sessions.py" 2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen:/,/^set/s/^#   //p' "$0")
