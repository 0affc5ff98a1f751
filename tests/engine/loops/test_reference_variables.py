"""Steps with reference variables run in loops, with the values of single steps."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tiers

import estimator_train as est
from estimator_train.engine.loops import reference_variables, sub_graph

v1 = tf.compat.v1
ROWS = 96


def input_fn() -> tf.data.Dataset:
    """Ninety-six rows in batches of four, once."""
    random = np.random.RandomState(0)
    features = {
        "x": random.uniform(-1, 1, (ROWS, 6)).astype(np.float32),
        "id": random.randint(0, 10, (ROWS, 3)),
    }
    return tf.data.Dataset.from_tensor_slices((features, features["x"][:, :1] ** 2)).batch(4)


def predict(features: Any, name: str = "w") -> tf.Tensor:
    weights = v1.get_variable(name, [6, 1], initializer=v1.ones_initializer())
    return tf.matmul(features["x"], weights)


def compute_loss(prediction: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    return tf.reduce_mean((prediction - labels) ** 2)


def minimize(optimizer: Any, loss: tf.Tensor) -> tf.Operation:
    return optimizer.minimize(loss, v1.train.get_global_step())


def train_by(optimizer: Callable[[], Any]) -> Any:
    def build(features: Any, labels: Any) -> tuple[tf.Tensor, Any]:
        loss = compute_loss(predict(features), labels)
        return loss, minimize(optimizer(), loss)

    return build


def normalize_and_average(features: Any, labels: Any) -> tuple[tf.Tensor, Any]:
    """Batch normalization, and moving averages of the weights after each update."""
    mean, variance = tf.nn.moments(predict(features), [0])
    moving = v1.get_variable("moving", [1], initializer=v1.zeros_initializer(), trainable=False)
    hidden = tf.nn.batch_normalization(predict(features, "v"), mean, variance, None, None, 1e-3)
    loss = compute_loss(hidden, labels)
    with tf.control_dependencies([v1.assign_sub(moving, (moving - mean) * 0.1)]):
        step = minimize(v1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True), loss)
    average = v1.get_variable("average", [6, 1], initializer=v1.zeros_initializer())
    with tf.control_dependencies([step]):
        return loss, v1.assign_sub(average, 0.1 * (average - v1.trainable_variables()[0]))


def clip_after_update(features: Any, labels: Any) -> tuple[tf.Tensor, Any]:
    """Weights that are clipped after the update: its read must see the new values."""
    loss = compute_loss(predict(features), labels)
    step = minimize(v1.train.RMSPropOptimizer(0.05), loss)
    with tf.control_dependencies([step]):
        return loss, [v.assign(tf.clip_by_value(v, -0.5, 0.5)) for v in v1.trainable_variables()]


def embed(optimizer: Callable[[], Any]) -> Any:
    def build(features: Any, labels: Any) -> tuple[tf.Tensor, Any]:
        table = v1.get_variable("table", [10, 1], initializer=v1.ones_initializer())
        loss = compute_loss(tf.reduce_sum(tf.gather(table, features["id"]), 1), labels)
        return loss, minimize(optimizer(), loss)

    return build


def count_and_decay(features: Any, labels: Any) -> tuple[tf.Tensor, Any]:
    """A counter of the program's own, whose new value is used, and updates of parts."""
    counter = v1.get_variable("counter", [], tf.int32, v1.zeros_initializer(), trainable=False)
    seen = v1.get_variable("seen", [10], tf.float32, v1.zeros_initializer(), trainable=False)
    count = v1.assign_add(counter, 1)
    rate = 0.1 / tf.cast(count, tf.float32)
    loss = compute_loss(predict(features), labels)
    step = minimize(v1.train.GradientDescentOptimizer(rate), loss)
    ids = tf.reshape(features["id"], [-1])
    with tf.control_dependencies([v1.scatter_add(seen, ids, tf.ones_like(ids, tf.float32))]):
        half = v1.scatter_nd_sub(seen, [[0]], [0.5])
    with tf.control_dependencies([half, step]):
        return loss, seen[1].assign(tf.cast(counter.read_value(), tf.float32) + seen[2])


def chain(features: Any, labels: Any) -> tuple[tf.Tensor, Any]:
    """An update of the result of another, and a read that alone waits for an update."""
    last = v1.get_variable("last", [6, 1], initializer=v1.zeros_initializer(), trainable=False)
    sums = v1.get_variable("sums", [6, 1], initializer=v1.zeros_initializer(), trainable=False)
    loss = compute_loss(predict(features), labels)
    (weights,) = v1.trainable_variables()
    with tf.control_dependencies([minimize(v1.train.AdamOptimizer(0.1), loss)]):
        new = weights.read_value()
    return loss, [v1.assign_add(v1.assign(sums, sums * 0.5), new * 2.0), last.assign(new + 1.0)]


def use_after_update(features: Any, labels: Any) -> tuple[tf.Tensor, Any]:
    """Uses of a counter after its update, with nothing but other inputs to order them."""
    counter = v1.get_variable("counter", [], initializer=v1.zeros_initializer(), trainable=False)
    last = v1.get_variable("last", [], initializer=v1.zeros_initializer(), trainable=False)
    noted = v1.get_variable("noted", [], initializer=v1.zeros_initializer(), trainable=False)
    loss = compute_loss(predict(features), labels)
    one = tf.sign(v1.assign_add(counter, 1.0))  # The value has another buffer than the variable.
    product = tf.multiply(one, counter)
    with tf.control_dependencies([last.assign(product)]):
        read = counter.read_value()  # An update of another variable precedes the use of this one.
    step = minimize(v1.train.GradientDescentOptimizer(0.1), loss)
    return loss, [step, noted.assign(read * 2.0 + last)]


MODELS: dict[str, Any] = {
    "use after update": use_after_update,
    "chain": chain,
    "gradient descent": train_by(lambda: v1.train.GradientDescentOptimizer(0.1)),
    "adam": train_by(lambda: v1.train.AdamOptimizer(0.1)),
    "adagrad": train_by(lambda: v1.train.AdagradOptimizer(0.1)),
    "adadelta": train_by(lambda: v1.train.AdadeltaOptimizer(0.1)),
    "ftrl": train_by(lambda: v1.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01)),
    "rmsprop": train_by(lambda: v1.train.RMSPropOptimizer(0.1, centered=True, momentum=0.5)),
    "proximal": train_by(lambda: v1.train.ProximalAdagradOptimizer(0.1)),
    "averages": normalize_and_average,
    "clipping": clip_after_update,
    "sparse adam": embed(lambda: v1.train.AdamOptimizer(0.1)),
    "sparse adagrad": embed(lambda: v1.train.AdagradOptimizer(0.1)),
    "sparse ftrl": embed(lambda: v1.train.FtrlOptimizer(0.1)),
    "sparse momentum": embed(lambda: v1.train.MomentumOptimizer(0.1, 0.9)),
    "counters": count_and_decay,
}
FIRST = {"use after update", "adam", "sparse adagrad", "counters"}


def test_a_read_waits_for_updates_of_its_variable_alone() -> None:
    """A read that waited for a convolution would stop the loop where both are fused."""
    with tf.Graph().as_default() as graph, v1.variable_scope("", use_resource=False):
        kernel, bias = v1.get_variable("kernel", [1, 1, 1, 2]), v1.get_variable("bias", [2])
        maps = tf.nn.conv2d(tf.ones([1, 2, 2, 1]), kernel, 1, "SAME")
        with tf.control_dependencies([maps]):
            ready = tf.no_op()
        with tf.control_dependencies([ready]):
            loss = tf.reduce_sum(tf.nn.bias_add(maps, bias))
        update = v1.assign_add(bias, tf.gradients(loss, bias)[0])
        with tf.control_dependencies([update]):
            after = tf.reduce_sum(tf.nn.bias_add(maps, bias))
        found = sub_graph.find_sub_graph(after.op, [loss])
        definition = found.define(found.needed)
        reference_variables.use_copies(definition, graph, [after.op, loss.op])
    reads = {node.name: node.input[:] for node in definition.node if node.op == "ReadVariableOp"}
    assert reads == {
        "Conv2D/read_1": ["kernel"],
        "BiasAdd/read_1": ["bias"],
        "BiasAdd_1/read_1": ["bias", f"^{update.op.name}"],
    }


class SeeEveryStep(est.SessionRunHook):
    """Hook that keeps the steps out of loops."""

    def after_run(self, run_context: Any, run_values: Any) -> None:
        pass


class CountLoopSteps(est.SessionRunHook):
    """Hook that counts the steps that it does not see."""

    def __init__(self) -> None:
        self.steps = 0

    def steps_until_due(self, global_step: int) -> None:
        return None

    def after_loop(self, steps: int, loss: Any) -> None:
        self.steps += steps


def make_estimator(build: Any, model_dir: Path, **settings: Any) -> est.Estimator:
    def model_fn(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
        with v1.variable_scope("", use_resource=False):
            loss, train_op = build(features, labels)
            variables = v1.global_variables()
            assert all(
                variable.op.type == "VariableV2"
                for variable in variables
                if variable is not v1.train.get_global_step()
            )
            mean = v1.metrics.mean_absolute_error(labels, tf.zeros_like(labels))
        return est.EstimatorSpec(
            mode, loss=loss, train_op=tf.group(train_op), eval_metric_ops={"mae": mean}
        )

    return est.Estimator(model_fn, model_dir, est.RunConfig(tf_random_seed=1, **settings))


def read_variables(model_dir: Path) -> dict[str, Any]:
    reader = tf.train.load_checkpoint(str(model_dir))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


@pytest.mark.parametrize("name", tiers.first(FIRST, MODELS))
def test_loops_have_the_values_of_single_steps(name: str, tmp_path: Path) -> None:
    counted = CountLoopSteps()
    make_estimator(MODELS[name], tmp_path / "loops").train(input_fn, [counted])
    make_estimator(MODELS[name], tmp_path / "steps").train(input_fn, [SeeEveryStep()])
    assert counted.steps > 0
    loops, steps = read_variables(tmp_path / "loops"), read_variables(tmp_path / "steps")
    assert loops.keys() == steps.keys()
    assert steps["global_step"] == ROWS // 4
    for variable, values in steps.items():
        np.testing.assert_array_equal(loops[variable], values, variable)


def test_an_evaluation_runs_in_loops_up_to_the_end_of_the_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its metrics are reference variables too, which the end of the input interrupts."""
    estimator = make_estimator(MODELS["adam"], tmp_path)
    estimator.train(input_fn, steps=5)
    copied: list[Any] = []

    def copy(variables: Any) -> reference_variables.Copies:
        copied.append(variables)
        return reference_variables.Copies(variables)

    monkeypatch.setattr(sub_graph, "Copies", copy)
    loops, calls = estimator.evaluate(input_fn), []
    assert len(copied) == 1

    class CountCalls(est.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            calls.append(run_context)

    assert estimator.evaluate(input_fn, hooks=[CountCalls()]) == loops
    assert len(calls) == ROWS // 4


def test_a_reason_is_logged_where_a_step_cannot_run_on_copies(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def watch(reason: str) -> None:
        caplog.clear()
        with caplog.at_level(logging.INFO, "tensorflow"):
            make_estimator(MODELS["sparse adagrad"], tmp_path / reason).train(input_fn, steps=8)
        lines = [text for text in caplog.messages if "one step per session call" in text]
        assert len(lines) == 1
        assert reason in lines[0]

    monkeypatch.setattr(reference_variables, "_MAX_SPARSE_BYTES", 8)
    watch("updates some rows of a large reference variable")
    monkeypatch.setattr(reference_variables, "_MAX_BYTES", 8)
    watch("its reference variables have 0 MB")


@pytest.mark.parametrize("xla", [True, "auto"])
def test_xla_compiles_no_reference_variables_and_training_goes_on(
    xla: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    estimator = make_estimator(MODELS["adam"], tmp_path, xla=xla)
    estimator.train(input_fn, steps=8)
    assert estimator.get_variable_value("global_step") == 8
    assert "XLA compiles nothing: the step has reference variables" in caplog.text
