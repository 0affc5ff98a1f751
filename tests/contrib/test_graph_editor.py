"""Programs that change their graphs with `tf.contrib.graph_editor`."""

import re

import numpy as np


def test_gradients_of_copied_blocks_train_the_same_model(run):
    done = run("gradient_checkpointing.py", switches=["--tf1", "--seed=1"])
    lines = done.stdout.splitlines()
    ends = [f"block_{number}/out:0" for number in range(4)]
    assert [line for line in lines if line.startswith(("copies", "blocks"))] == [
        "copies 0",
        f"blocks 4 {ends}",
        "copies 8",
    ]
    found = re.findall("values (.*)", done.stderr)
    values = [[float(value) for value in texts.split()] for texts in found]
    assert len(values) == 12
    assert values[0][0] != values[5][0]
    np.testing.assert_allclose(values[6:], values[:6], rtol=1e-3)
    plain, checkpointed = (
        [float(value) for value in line.split()[1:]] for line in lines if "_gradients " in line
    )
    np.testing.assert_allclose(checkpointed, plain, atol=1e-3)


REPLACED = """
import tensorflow as tf
from tensorflow.contrib import graph_editor as ge
from tensorflow.contrib.graph_editor import select, util
from tensorflow.contrib.graph_editor.subgraph import SubGraphView
from tensorflow.contrib.graph_editor.transform import Transformer

original = tf.gradients

def gradients(ys, xs, **kwargs):
    print("replaced")
    return original(ys, xs, **kwargs)

tf.__dict__["gradients"] = gradients
x = tf.constant([1.0, 2.0], name="x")
print(len(tf.gradients(x * x, [x])))
print(SubGraphView is ge.SubGraphView, Transformer is ge.Transformer, ge.sgv is ge.make_view)
print(select.select_ops is ge.select_ops, util.get_tensors is ge.get_tensors)
print(x.op._outputs[0] is x, list(x.op._inputs), list(x.op._control_inputs))
print(ge.select_ts("^x", graph=x.graph) == [x], isinstance(ge.sgv(x.op), ge.SubGraphView))
"""


def test_replaced_gradients_and_modules(run):
    assert run(REPLACED, switches=["--tf1"]).stdout.splitlines() == [
        "replaced",
        "1",
        "True True True",
        "True True",
        "True [] []",
        "True True",
    ]
