"""Training in 16 bits: casts, scaled losses, and results compared with 32 bits."""

import json
import logging
import os
import sys

import forked
import numpy as np
import pytest
import tensorflow as tf
from environments import run_python

import estimator_train as est
from estimator_train.engine.graph.mixed_precision import enable_casts, scale_losses

tf1 = tf.compat.v1


def model_fn(features, labels, mode):
    w = tf1.get_variable("w", [16, 8], initializer=tf1.glorot_uniform_initializer(seed=3))
    v = tf1.get_variable("v", [8, 1], initializer=tf1.glorot_uniform_initializer(seed=4))
    prediction = tf.matmul(tf.nn.relu(tf.matmul(features, w)), v)
    loss = tf.reduce_mean((prediction - labels) ** 2)
    optimizer = tf1.train.AdamOptimizer(0.01)
    train_op = optimizer.minimize(loss, tf1.train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    rows = np.random.RandomState(0).rand(64, 16).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((rows, rows.sum(1, keepdims=True))).repeat().batch(16)


def trained(directory, precision, steps=60, hooks=(), **settings):
    config = est.RunConfig(model_dir=str(directory), mixed_precision=precision, **settings)
    estimator = est.Estimator(model_fn, config=config)
    return estimator.train(input_fn, steps=steps, hooks=list(hooks))


class Operations(est.SessionRunHook):
    """Types and number types of the operations that run."""

    def before_run(self, run_context):
        options = tf1.RunOptions(output_partition_graphs=True)
        return tf1.train.SessionRunArgs([], options=options)

    def after_run(self, run_context, run_values):
        graphs = run_values.run_metadata.partition_graphs
        self.found = {(node.op, node.attr["T"].type) for graph in graphs for node in graph.node}


BFLOAT16 = """
import json, pathlib, sys
import test_mixed_precision as test

directory = pathlib.Path(sys.argv[1])
seen = test.Operations()
half = test.trained(directory / "half", "bfloat16", hooks=[seen])
whole = test.trained(directory / "whole", None)
products = sorted({number for name, number in seen.found if "MatMul" in name})
loops = [test.train_in_loops(directory, "bfloat16", k).tolist() for k in ("auto", 1)]
values = [[one.get_variable_value(n).tolist() for n in ("w", "v")] for one in (half, whole)]
print(json.dumps([products, str(half.get_variable_value("w").dtype), values, loops]))
"""


def train_in_loops(tmp_path, precision, steps_per_loop):
    directory = tmp_path / f"{precision} {steps_per_loop}"
    estimator = trained(directory, precision, 20, steps_per_loop=steps_per_loop)
    return estimator.get_variable_value("w")


@pytest.mark.long
def test_products_run_in_bfloat16_and_train_nearly_the_same(tmp_path):
    # A CPU multiplies in bfloat16 with oneDNN, which a process has from its start or not at all.
    done = run_python(
        *(sys.executable, "-c", BFLOAT16, tmp_path),
        cwd=os.path.dirname(__file__),
        TF_ENABLE_ONEDNN_OPTS="1",
        PYTHONPATH=os.path.dirname(forked.__file__),
    )
    products, dtype, (half, whole), loops = json.loads(done.stdout)
    assert products == [tf.bfloat16.as_datatype_enum]
    assert dtype == "float32"
    for actual, expected in zip(half, whole, strict=True):
        np.testing.assert_allclose(actual, expected, atol=0.02)
    assert half[0] != whole[0]
    np.testing.assert_allclose(*loops, rtol=1e-5)


def test_loops_and_single_steps_give_the_same(tmp_path):
    values = [train_in_loops(tmp_path, "float16", k) for k in ("auto", 1)]
    np.testing.assert_allclose(*values, rtol=1e-5)


@pytest.mark.long
def test_a_scaled_loss_trains_the_same(tmp_path):
    scaled = trained(tmp_path / "scaled", "float16")
    plain = trained(tmp_path / "plain", None)
    for name in ("w", "v", "w/Adam"):
        np.testing.assert_allclose(
            scaled.get_variable_value(name), plain.get_variable_value(name), rtol=1e-3, atol=1e-5
        )
    assert scaled.get_variable_value("loss_scale/current") == 2**15
    assert scaled.get_variable_value("loss_scale/good_steps") == 60


def scaled_step(values, optimizer_class):
    """Returns the weight, scale, good steps and global step after each loss `w * value`."""
    with tf.Graph().as_default():
        value = tf1.placeholder(tf.float32, [])
        w = tf1.get_variable("w", [], initializer=tf1.ones_initializer())
        step = tf1.train.get_or_create_global_step()
        with scale_losses():
            train_op = optimizer_class(0.5).minimize(w * value, step)
        with tf1.variable_scope("loss_scale", reuse=True):
            state = [tf1.get_variable("current"), tf1.get_variable("good_steps", dtype=tf.int64)]
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            seen = []
            for number in values:
                session.run(train_op, {value: number})
                seen.append(tuple(float(x) for x in session.run([w, *state, step])))
    return seen


def test_skipped_steps_count_and_halve_the_scale():
    assert scaled_step([1, np.inf, 1, np.nan, 1e38], tf1.train.GradientDescentOptimizer) == [
        (0.5, 2**15, 1, 1),
        (0.5, 2**14, 0, 2),
        (0.0, 2**14, 1, 3),
        (0.0, 2**13, 0, 4),
        (0.0, 2**12, 0, 5),
    ]


def test_the_scale_doubles_after_good_steps(monkeypatch):
    monkeypatch.setattr("estimator_train.engine.graph.mixed_precision._GOOD_STEPS_TO_GROW", 2)
    scales = [scale for _, scale, _, _ in scaled_step([0] * 5, tf1.train.AdamOptimizer)]
    assert scales == [2**15, 2**16, 2**16, 2**17, 2**17]


def test_optimizers_have_their_own_methods_again_after_training():
    own = tf1.train.Optimizer.compute_gradients, tf1.train.Optimizer.apply_gradients
    with scale_losses():
        assert tf1.train.Optimizer.compute_gradients is not own[0]
    with pytest.raises(KeyError), scale_losses():
        raise KeyError
    assert (tf1.train.Optimizer.compute_gradients, tf1.train.Optimizer.apply_gradients) == own


REPLICAS = """
import sys
import numpy as np
import tensorflow as tf
import estimator_train as est

tf1 = tf.compat.v1
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

def model_fn(features, mode):
    w = tf1.get_variable("w", [], initializer=tf1.ones_initializer())
    # The gradient of the third step's second replica alone is not finite.
    loss = w * tf.reduce_sum(features)
    shown = tf.where(tf.math.is_finite(loss), loss, 0.0)
    optimizer = tf1.train.GradientDescentOptimizer(0.25)
    train_op = optimizer.minimize(loss, tf1.train.get_global_step())
    return est.EstimatorSpec(mode, loss=shown, train_op=train_op)

def input_fn():
    values = np.float32([1, 1, 1, 1, 1, np.inf, 1, 1])
    return tf.data.Dataset.from_tensor_slices(values).batch(1)

strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
config = est.RunConfig(mixed_precision="float16", train_distribute=strategy)
estimator = est.Estimator(model_fn, sys.argv[1], config).train(input_fn)
names = ("w", "loss_scale/current", "loss_scale/good_steps", "global_step")
print([float(estimator.get_variable_value(name)) for name in names])
"""


@pytest.mark.long
def test_replicas_skip_a_step_together(tmp_path):
    assert forked.printed("-c", REPLICAS, tmp_path) == [0.25, 2**14, 1, 4]


def test_a_model_whose_loss_is_not_scaled_logs_a_warning(caplog):
    with tf.Graph().as_default(), scale_losses():
        pass
    assert "and the model has none" in caplog.text


def test_float16_without_a_gpu_logs_that_it_trains_in_float32(caplog):
    config = tf1.ConfigProto()
    with caplog.at_level(logging.WARNING):
        enable_casts(config, "float16")
    assert config == tf1.ConfigProto()
    assert "On a CPU training computes in float32, not in float16." in caplog.text


def test_errors_name_bad_settings():
    with pytest.raises(ValueError, match="mixed_precision should be 'bfloat16' or 'float16', got"):
        est.RunConfig(mixed_precision="float8")
    with pytest.raises(ValueError, match="`xla` and `mixed_precision` cannot be both set"):
        est.RunConfig(mixed_precision="bfloat16", xla="auto")
