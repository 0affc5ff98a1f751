"""Synchronous training with an evaluator in the workers of Ray Train, which restarts them.

python ray_train.py STORAGE MAX_STEPS

STORAGE is a directory that all machines share. Ray's first worker is the evaluator, because Ray
keeps the metrics of that worker only; the second is the chief.
"""

import glob
import json
import os
import shutil
import sys
import tempfile

from ray import train
from ray.train.tensorflow import TensorflowTrainer


def assign_role():
    """Changes Ray's TF_CONFIG, where all tasks are workers; returns the role of this process."""
    config = json.loads(os.environ["TF_CONFIG"])
    evaluator, chief, *workers = config["cluster"]["worker"]
    roles = [("evaluator", 0), ("chief", 0), *(("worker", i) for i in range(len(workers)))]
    role, index = roles[config["task"]["index"]]
    cluster = {"evaluator": [evaluator], "chief": [chief], "worker": workers}
    task = {"type": role, "index": index}
    os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": task})
    return role


def train_or_evaluate(settings):
    """Runs one task, and reports the last evaluation and its checkpoint."""
    role = assign_role()  # Before TensorFlow reads TF_CONFIG.
    import tensorflow as tf

    import estimator_train as est

    def input_fn():
        x = tf.random.stateless_normal([1000, 1], [1, 2])
        return tf.data.Dataset.from_tensor_slices(({"x": x}, 2 * x + 1)).repeat().batch(8)

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    config = est.RunConfig(
        settings["model_dir"], train_distribute=strategy, save_checkpoints_steps=50
    )
    estimator = est.LinearRegressor([tf.feature_column.numeric_column("x")], config=config)
    # After a restart this continues from the last checkpoint in model_dir.
    result = est.train_and_evaluate(
        estimator,
        est.TrainSpec(input_fn, settings["max_steps"]),
        est.EvalSpec(input_fn, steps=10, start_delay_secs=0, throttle_secs=1),
    )
    if role != "evaluator":
        train.report({})  # Ray waits until all workers have reported.
        return
    metrics = {name: float(value) for name, value in result[0].items()}
    with tempfile.TemporaryDirectory() as directory:
        for file in glob.glob(f"{estimator.latest_checkpoint()}.*"):
            shutil.copy(file, directory)
        train.report(metrics, train.Checkpoint.from_directory(directory))


def main(storage, max_steps):
    """Runs the job in Ray, and prints its result."""
    trainer = TensorflowTrainer(
        train_or_evaluate,
        train_loop_config={"model_dir": f"{storage}/model", "max_steps": max_steps},
        scaling_config=train.ScalingConfig(num_workers=3),
        run_config=train.RunConfig(
            name="linear",
            storage_path=storage,
            failure_config=train.FailureConfig(max_failures=3),
        ),
    )
    result = trainer.fit()
    print("metrics", json.dumps(result.metrics))
    print("checkpoint", *sorted(os.listdir(result.checkpoint.path)))


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), int(sys.argv[2]))
