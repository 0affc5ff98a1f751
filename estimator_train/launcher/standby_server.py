"""Standby process: imports the packages of a program, then forks a task at each request.

`estimator-train launch` starts it (`standby.py`) with a socket and the program as arguments. A fork
of this process needs no time to import TensorFlow. It does not run code of the program before it
forks: modules that are not installed packages are imported by the task.

TensorFlow also prepares much at the first use: definitions of operations and gradients, and the
converters of AutoGraph. The process therefore builds a small graph first. No session opens and no
tf.function is traced: both start threads, which a fork loses.
"""

import contextlib
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import sys
import threading
import warnings
from typing import Any

from estimator_train.goodput import STARTED_VARIABLE, process_clock
from estimator_train.launcher.python_program import PythonProgram, find_imports

_MAX_BYTES = 1 << 20
_PACKAGE = __name__.partition(".")[0]
# Names that load the parts of this package that every training uses.
_LAZY_NAMES = ("Estimator", "RunConfig", "TrainSpec", "train_and_evaluate")


def build_small_graph() -> None:
    """Builds and forgets the graph of a training step, and converts a function by AutoGraph."""
    tf = importlib.import_module("tensorflow")
    tf1 = tf.compat.v1
    with tf.Graph().as_default():
        step = tf1.train.create_global_step()
        images = tf.zeros([2, 4, 4, 1])
        data = tf.data.Dataset.from_tensor_slices((images, tf.zeros([2], tf.int32)))
        data = data.repeat().batch(2)
        features, labels = tf1.data.make_initializable_iterator(data).get_next()
        kernel = tf1.get_variable("kernel", [3, 3, 1, 2])
        hidden = tf.reshape(tf.nn.relu(tf.nn.conv2d(features, kernel, 1, "SAME")), [-1, 32])
        logits = hidden @ tf1.get_variable("weights", [32, 2]) + tf1.get_variable("bias", [2])
        loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
        tf1.summary.scalar("loss", loss)
        tf1.train.AdamOptimizer().minimize(loss, step)
        tf1.train.Saver().build()
    tf.autograph.to_graph(_example)


def _example(numbers: list[int]) -> int:
    """Adds the positive numbers; an example of the statements that AutoGraph converts."""
    total = 0
    for number in numbers:
        if number > 0:
            total += number
    return total


class SideEffectError(Exception):
    """Error for an import that starts or changes something that a fork does not keep."""


def main() -> None:
    """Imports the packages, serves requests, and runs the program in each forked task."""
    connection = socket.socket(fileno=int(sys.argv[1]))
    program = PythonProgram(**json.loads(sys.argv[2]))
    directory = os.path.dirname(os.path.abspath(program.script)) if program.script else os.getcwd()
    sys.path[:] = [path for path in sys.path if path not in ("", os.getcwd())]
    if not getattr(sys.flags, "safe_path", False):  # Python 3.10 has no such flag.
        sys.path.insert(0, directory)
    try:
        _preload(program)
    except SideEffectError as error:
        connection.send(json.dumps({"refused": str(error)}).encode())
        return
    gc.collect()  # Ends the threads of the small graph.
    gc.freeze()  # A collection in a task would copy the memory that the processes share.
    connection.send(json.dumps({"ready": True}).encode())
    environment = _serve(connection)
    if environment is not None:
        connection.close()
        _run(program, environment)


def _preload(program: PythonProgram) -> None:
    """Imports the installed packages of the program, and this package's parts for trainings.

    Raises:
      SideEffectError: The program sets environment variables, or an import has side effects.
    """
    imports = find_imports(program, sys.path)
    if imports.obstacle:
        raise SideEffectError(f"{imports.obstacle} sets an environment variable before imports")
    os.environ.update(imports.variables)
    for name in imports.packages:
        before = _read_state()
        with contextlib.suppress(Exception):  # The program itself raises or handles the error.
            module = importlib.import_module(name)
            if name == _PACKAGE:
                for lazy in _LAZY_NAMES:
                    getattr(module, lazy)
        changed = [what for what, value in _read_state().items() if value != before[what]]
        if changed:
            raise SideEffectError(f"importing {name} changes {' and '.join(changed)}")
    if _PACKAGE in imports.packages:
        with contextlib.suppress(Exception):  # It only saves time.
            build_small_graph()


def _read_state() -> dict[str, Any]:
    """Returns the state that imports must not change."""
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    return {
        "the threads of the process": len(threading.enumerate()),
        "the working directory": os.getcwd(),
        "the handlers of signals": handlers,
    }


def _serve(connection: socket.socket) -> dict[str, str] | None:
    """Forks at each request.

    Returns:
      In a task, its environment variables; None when the launcher has ended.
    """
    while True:
        message, descriptors, _, _ = socket.recv_fds(connection, _MAX_BYTES, 2)
        if not message:
            return None
        reader, writer = os.pipe()
        child = _fork_quietly()
        if not child:
            # The child ends immediately, so that the launcher becomes the parent of the task.
            if _fork_quietly():
                os._exit(0)
            os.close(reader)
            output, accepted = descriptors
            _attach(output)
            # Not earlier: the launcher sends signals to the process group that `_attach` makes.
            os.write(writer, str(os.getpid()).encode())
            os.close(writer)
            _wait_until_accepted(accepted)
            return dict(json.loads(message))
        os.close(writer)
        for descriptor in descriptors:
            os.close(descriptor)
        os.waitpid(child, 0)
        with open(reader, "rb") as pipe:
            connection.send(json.dumps({"pid": int(pipe.read())}).encode())


def _fork_quietly() -> int:
    with warnings.catch_warnings():
        # The threads that importing TensorFlow starts are idle.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _attach(output: int) -> None:
    """Makes this process a task: a session of its own, with this output."""
    os.setsid()
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    # Otherwise all tasks would draw the same numbers.
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()


def _wait_until_accepted(accepted: int) -> None:
    """Waits until the launcher knows this task; ends it if the launcher has died or given it up."""
    with open(accepted, "rb", buffering=0) as pipe:
        if not pipe.read(1):
            os._exit(1)


def _run(program: PythonProgram, environment: dict[str, str]) -> None:
    """Runs the program as `python` would."""
    os.environ.update(environment)
    process_clock.start(float(environment[STARTED_VARIABLE]))
    sys.argv[1:] = program.arguments
    if program.module:
        runpy.run_module(program.module, run_name="__main__", alter_sys=True)
    else:
        sys.argv[0] = program.script
        runpy.run_path(program.script, run_name="__main__")
