"""A strategy over two virtual CPU devices computes what one device does on the global batch."""

from pathlib import Path

import forked
import numpy as np
import pytest

PROGRAM = """
import json, sys
import numpy as np
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
import estimator_train as est
sys.path.insert(0, sys.argv[1])
from conftest import linear_input_fn, linear_model_fn

class Note(tf.compat.v1.train.SessionRunHook):
    def __init__(self): self.events = []
    def begin(self): self.events.append("begin")
    def end(self, session):
        self.events.append("end")
        self.operations = {operation.type for operation in session.graph.get_operations()}

note = Note()
calls = []

def model_fn(features, labels, mode):
    def init_fn(scaffold, session): calls.append("init_fn")
    spec = linear_model_fn(features, labels, mode)
    if mode != "train":
        return spec
    return spec._replace(
        training_hooks=(note,), scaffold=tf.compat.v1.train.Scaffold(init_fn=init_fn))

def contexts(input_context):
    calls.append([input_context.num_input_pipelines, input_context.num_replicas_in_sync])
    return linear_input_fn(batch_size=4)()

result = {}
for name, strategy in {
    "v2": tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]),
    "v1": tf.compat.v1.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]),
    "one": tf.distribute.OneDeviceStrategy("/cpu:1"),
}.items():
    config = est.RunConfig(train_distribute=strategy, eval_distribute=strategy)
    estimator = est.Estimator(model_fn, sys.argv[2] + name, config)
    estimator.train(contexts, steps=10)
    metrics = estimator.evaluate(linear_input_fn(epochs=1, batch_size=4))
    result[name] = {
        "w": estimator.get_variable_value("w").ravel().tolist(),
        "names": estimator.get_variable_names(),
        "metrics": {k: float(v) for k, v in metrics.items()},
        "predictions": len(list(estimator.predict(linear_input_fn(epochs=1)))),
        "calls": list(calls), "hooks": list(note.events),
        "iterators": sorted(kind for kind in note.operations if kind.endswith("IteratorV2")
                            or kind.startswith("MultiDeviceIterator")),
    }
    calls.clear(), note.events.clear()
print(json.dumps(result))
"""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    directory = tmp_path_factory.mktemp("replicas")
    return forked.printed("-c", PROGRAM, Path(__file__).parents[1], directory)


@pytest.mark.long
@pytest.mark.parametrize("strategy", ["v1", "v2"])
def test_two_replicas_equal_one_device_with_the_combined_batch(outcome, strategy, gradient_descent):
    result = outcome[strategy]
    np.testing.assert_allclose(np.reshape(result["w"], (3, 1)), gradient_descent(10), rtol=1e-5)
    assert result["names"] == ["global_step", "w"]
    assert result["metrics"]["global_step"] == 10
    assert result["predictions"] == 64


def test_metrics_of_replicas_cover_the_whole_set(outcome, arrays):
    x, y = arrays
    error = x @ np.reshape(outcome["v2"]["w"], (3, 1)) - y
    assert outcome["v2"]["metrics"]["loss"] == pytest.approx((error**2).mean(), rel=1e-5)
    assert outcome["v2"]["metrics"]["bias"] == pytest.approx(error.mean(), rel=1e-4)


def test_one_device_strategy_trains_on_its_own_batches(outcome, gradient_descent):
    expected = gradient_descent(10, batch_size=4)
    np.testing.assert_allclose(np.reshape(outcome["one"]["w"], (3, 1)), expected, rtol=1e-5)


@pytest.mark.parametrize("strategy", ["v1", "v2", "one"])
def test_replicas_on_cpus_read_one_iterator_without_copies(outcome, strategy):
    assert outcome[strategy]["iterators"] == ["IteratorV2"]


def test_scaffolds_of_all_replicas_and_hooks_of_the_first_are_used(outcome):
    assert outcome["v2"]["calls"] == [[1, 2], "init_fn", "init_fn"]
    assert outcome["v2"]["hooks"] == ["begin", "end"]
