"""Modules that an old program sees are pickled with its functions, as Beam and Spark do."""

import sys

import pytest
from legacy_programs import environment
from processes import run_process

pytestmark = pytest.mark.long  # Worker processes import TensorFlow again.

PROGRAM = """
import copy
import inspect
import pickle
import typing
import collections
import numpy as np
import tensorflow as tf
from tensorflow import estimator
from tensorflow.contrib import layers
from tensorflow.python.framework import ops

modules = [collections, np, tf, estimator, layers, ops, tf.contrib.slim, tf.compat.v1]
for module in modules:
    assert pickle.loads(pickle.dumps(module)) is module, module
    assert copy.copy(module) is module and copy.deepcopy({"module": module})["module"] is module
    assert typing.get_type_hints(module) == {}, module
    assert inspect.getmodule(module) is module

def function(rows: "tf.Tensor", table: "np.ndarray") -> "estimator.EstimatorSpec":
    pass

assert list(typing.get_type_hints(function)) == ["rows", "table", "return"]
with open("modules.pickle", "wb") as file:
    pickle.dump([np, tf, estimator, layers], file)
"""
# A worker process was not started by `estimator-train run`.
WORKER = """
import pickle
with open("modules.pickle", "rb") as file:
    np, tf, estimator, layers = pickle.load(file)
with tf.Session() as session:
    print(session.run(tf.placeholder_with_default(np.float32(2), [])), np.bool is bool)
print(estimator.ModeKeys.TRAIN, layers.fully_connected.__name__, tf.__version__)
import tensorflow.contrib.slim as slim
print(slim.arg_scope.__name__)
"""


def test_a_worker_restores_the_modules_of_a_pickled_function(run, tmp_path):
    run(PROGRAM, switches=["--tf1"])
    done = run_process([sys.executable, "-c", WORKER], cwd=tmp_path, env=environment())
    assert done.stdout.splitlines() == ["2.0 True", "train fully_connected 1.15.5", "arg_scope"]


def test_the_shown_module_of_tf_estimator_is_pickled(tmp_path):
    program = (
        "import estimator_train, copy, pickle, sys\n"
        "from estimator_train.bootstrap import import_hook\n"
        "import_hook.install().show_attributes()\n"
        "import tensorflow_estimator as module\n"
        "assert copy.deepcopy(module) is module\n"
        "import tensorflow.estimator as estimator\n"
        "pickle.dump([module, estimator], open('m.pickle', 'wb'))\n"
    )
    worker = (
        "import pickle\nprint(*(m.ModeKeys.EVAL for m in pickle.load(open('m.pickle', 'rb'))))\n"
    )
    for text in (program, worker):
        done = run_process([sys.executable, "-c", text], cwd=tmp_path, env=environment())
    assert done.stdout == "eval eval\n"
