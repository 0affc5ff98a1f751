"""Prints as JSON the walks of `train` and `evaluate`: their files, and from where each is entered.

The walk "call" goes from a plain call of the verb to the first session call. The walk "complete"
begins before `Estimator(...)`, and ends when the verb returns; it follows the threads that the
package starts. (It does not end with the first checkpoint: a thread writes it, beside as many steps
as the disk is slow.) A file is entered by a call from another file of the package, through
TensorFlow or a user's function too; each line that enters it counts once.
"""

import collections
import gc
import json
import os
import sys
import tempfile
import threading
from types import FrameType
from typing import Any

import estimator_train as est  # Before TensorFlow, as in the README.

# isort: split
import numpy as np
import tensorflow as tf
from tensorflow.python.client import session

ROOT = os.path.dirname(est.__file__) + os.sep
Estimator, EstimatorSpec = est.Estimator, est.EstimatorSpec  # Loaded before the walk.
train = tf.compat.v1.train


def input_fn() -> tf.data.Dataset:
    """Sixty-four examples of four numbers, again and again."""
    x = np.arange(256, dtype=np.float32).reshape(64, 4) / 256
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x.sum(1, keepdims=True))).repeat().batch(8)


def model_fn(features: Any, labels: Any, mode: str) -> Any:
    """Returns a linear model of TensorFlow 1."""
    weights = tf.compat.v1.get_variable("weights", [4, 1])
    loss = tf.reduce_mean((features["x"] @ weights - labels) ** 2)
    step = train.get_global_step()
    return EstimatorSpec(
        mode, loss=loss, train_op=train.GradientDescentOptimizer(0.1).minimize(loss, step)
    )


class Walk:
    """The files that the walks of a verb have entered, and the walks that go on."""

    def __init__(self, verb: str) -> None:
        self.verb, self.model_dir = verb, tempfile.mkdtemp()
        self.files: dict[str, dict[str, set[str]]] = {
            name: collections.defaultdict(set) for name in ("call", "complete")
        }
        self.going = {"complete"}

    def follow(self, frame: FrameType, event: str, argument: Any) -> None:
        """Notes a call that enters a file."""
        del argument
        if event != "call":
            return
        name, code = frame.f_code.co_filename, frame.f_code.co_name
        if name == session.__file__ and code == "run":
            self.going.discard("call")
        # Python calls the hook for each import, also of other packages.
        if not name.startswith(ROOT) or code == "<module>" or name.endswith("import_hook.py"):
            return
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(ROOT):
            caller = caller.f_back
        if caller is None:
            place = "the program"
        elif caller.f_code.co_filename != name:
            place = f"{caller.f_code.co_filename.removeprefix(ROOT)}:{caller.f_lineno}"
        else:
            return
        for walk in self.going:
            self.files[walk][name.removeprefix(ROOT)].add(place)

    def run(self) -> dict[str, dict[str, list[str]]]:
        """Calls the verb; returns the files that it entered."""
        sys.setprofile(self.follow)
        estimator = Estimator(model_fn, self.model_dir)
        sys.setprofile(None)
        if self.verb == "evaluate":
            estimator.train(input_fn, steps=1)
        self.going.add("call")
        threading.setprofile(self.follow)
        sys.setprofile(self.follow)
        getattr(estimator, self.verb)(input_fn, steps=5)
        sys.setprofile(None)
        threading.setprofile(None)
        return {
            name: {file: sorted(places) for file, places in walk.items()}
            for name, walk in self.files.items()
        }


if __name__ == "__main__":
    gc.collect()  # The package follows the first full collection.
    print(json.dumps({verb: Walk(verb).run() for verb in ("train", "evaluate")}))
