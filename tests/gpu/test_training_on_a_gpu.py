"""Training, evaluation, prediction and checkpoints on a GPU, compared with the CPU."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est

ROOT = Path(__file__).parents[2]
STEPS = 150
# Only the input's operations and those that control the loop may run on the CPU.
ON_CPU = {"IteratorGetNext", "Identity", "NoOp", "Const"}
PLACED = re.compile(r"(\S+): \((\S+)\): \S*device:(\w+):")


def input_fn() -> Any:
    random = np.random.RandomState(0)
    x = random.standard_normal((2_000, 20)).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, x[:, 0] + x[:, 1])).repeat().batch(50)


def model_fn(features: Any, labels: Any, mode: str) -> Any:
    hidden = tf.nn.relu(features @ variable("hidden", (20, 32)))
    outputs = tf.squeeze(hidden @ variable("outputs", (32, 1)), axis=1)
    if mode == "infer":
        return est.EstimatorSpec(mode, predictions=outputs)
    loss = tf.reduce_mean(tf.square(outputs - labels))
    step = tf.compat.v1.train.get_global_step()
    train_op = tf.compat.v1.train.AdamOptimizer(0.01).minimize(loss, step)
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


def variable(name: str, shape: tuple[int, int]) -> Any:
    initializer = tf.compat.v1.random_normal_initializer(stddev=0.3, seed=1)
    return tf.compat.v1.get_variable(name, shape, initializer=initializer, use_resource=True)


def train(model_dir: Path, **settings: Any) -> est.Estimator:
    config = est.RunConfig(str(model_dir), tf_random_seed=1, **settings)
    estimator = est.Estimator(model_fn, config=config)
    estimator.train(input_fn, steps=STEPS)
    return estimator


def read_weights(estimator: est.Estimator) -> Any:
    return np.concatenate(
        [estimator.get_variable_value(name).ravel() for name in ("hidden", "outputs")]
    )


@pytest.mark.parametrize(
    ("settings", "tolerance"),
    [
        ({}, 1e-3),
        ({"steps_per_loop": 1}, 1e-3),
        ({"xla": True}, 1e-3),
        ({"mixed_precision": "float16"}, 5e-2),
    ],
    ids=["loops", "single steps", "xla", "float16"],
)
def test_weights_are_those_of_the_cpu(
    tmp_path: Path, settings: dict[str, Any], tolerance: float
) -> None:
    only_cpu = tf.compat.v1.ConfigProto(device_count={"GPU": 0})
    expected = read_weights(train(tmp_path / "cpu", session_config=only_cpu))
    actual = read_weights(train(tmp_path / "gpu", **settings))
    np.testing.assert_allclose(actual, expected, atol=tolerance)


def test_a_strategy_with_one_gpu_trains_evaluates_and_predicts(tmp_path: Path) -> None:
    estimator = train(tmp_path, train_distribute=tf.distribute.MirroredStrategy(["/gpu:0"]))
    assert estimator.evaluate(input_fn, steps=5)["loss"] < 0.5
    predictions = estimator.predict(input_fn)
    assert len([next(predictions) for _ in range(100)]) == 100


def test_training_continues_from_a_checkpoint_that_was_written_while_training(
    tmp_path: Path,
) -> None:
    train(tmp_path, save_checkpoints_steps=20)
    (tmp_path / "checkpoint").unlink()
    for file in tmp_path.glob(f"model.ckpt-{STEPS}.*"):
        file.unlink()
    estimator = train(tmp_path, save_checkpoints_steps=20)
    assert estimator.get_variable_value("global_step") >= STEPS


def test_all_operations_of_a_step_but_the_input_run_on_the_gpu(tmp_path: Path) -> None:
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "0"}
    done = subprocess.run(
        [sys.executable, __file__, str(tmp_path)],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    placed = [match.groups() for match in PLACED.finditer(done.stderr) if "while/body" in match[1]]
    assert any(device == "GPU" for _, _, device in placed)
    assert {kind for _, kind, device in placed if device == "CPU"} <= ON_CPU


if __name__ == "__main__":
    logged = tf.compat.v1.ConfigProto(log_device_placement=True, allow_soft_placement=True)
    train(Path(sys.argv[1]), session_config=logged)
