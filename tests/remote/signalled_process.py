"""Calls TensorFlow in the main thread while signals come whose handler raises an exception.

Call it with a directory and the number of signals; it prints "ready" if nothing was lost.
"""

import os
import signal
import sys
import threading
import time

import tensorflow as tf

from estimator_train import remote

ROOT, SIGNALS = sys.argv[1], int(sys.argv[2])


gfile = tf.io.gfile


class Interrupted(BaseException):
    """Exception of the handler."""


def handle_signal(number, frame):
    global handled
    if is_calling:
        raise Interrupted
    handled += 1


def send_signals():
    for number in range(SIGNALS):
        os.kill(os.getpid(), signal.SIGUSR1)
        deadline = time.monotonic() + 60
        while handled == number:
            if time.monotonic() > deadline:
                print("an exception of a signal handler was lost", file=sys.stderr, flush=True)
                os._exit(3)
            time.sleep(0.001)


def call_tensorflow():
    gfile.stat(f"{ROOT}/file")
    assert gfile.glob(f"{ROOT}/*") == [f"{ROOT}/file"]
    with gfile.GFile(f"{ROOT}/file") as file:
        assert file.read() == "x" * 1000


remote.register(ROOT.partition("://")[0])
gfile.makedirs(ROOT)
with gfile.GFile(f"{ROOT}/file", "w") as created:
    created.write("x" * 1000)
handled, is_calling = 0, False
signal.signal(signal.SIGUSR1, handle_signal)
sender = threading.Thread(target=send_signals, daemon=True)
sender.start()
while handled < SIGNALS:
    try:
        is_calling = True
        while handled < SIGNALS:
            call_tensorflow()
    except Interrupted:
        is_calling = False
        handled += 1
sender.join()
print("ready")
