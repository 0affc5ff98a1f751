"""Synchronous training with an evaluator in the tasks of a Spark stage, which restarts them.

spark-submit spark_barrier.py MODEL_DIR MAX_STEPS

MODEL_DIR is on a file system that all machines share. Spark starts the tasks of a barrier stage at
the same time, and all of them again if one fails. At SIGTERM a task saves a checkpoint.
"""

import json
import os
import socket
import sys

from pyspark import BarrierTaskContext
from pyspark.sql import SparkSession

TASKS = [("chief", 0), ("worker", 0), ("evaluator", 0)]


def set_tf_config():
    """Sets TF_CONFIG from the addresses of all tasks."""
    context = BarrierTaskContext.get()
    rank = context.partitionId()
    host = context.getTaskInfos()[rank].address.partition(":")[0]
    with socket.socket() as free:
        free.bind(("", 0))
        addresses = context.allGather(f"{host}:{free.getsockname()[1]}")
    cluster = {}
    for (role, _), address in zip(TASKS, addresses, strict=True):
        cluster.setdefault(role, []).append(address)
    task = dict(zip(("type", "index"), TASKS[rank], strict=True))
    os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": task})


def train_or_evaluate(model_dir, max_steps):
    """Runs one task; returns the metrics of the last evaluation, in the evaluator only."""
    set_tf_config()  # Before TensorFlow reads the variable.
    import tensorflow as tf

    import estimator_train as est

    def input_fn():
        x = tf.random.stateless_normal([1000, 1], [1, 2])
        return tf.data.Dataset.from_tensor_slices(({"x": x}, 2 * x + 1)).repeat().batch(8)

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    config = est.RunConfig(
        model_dir, train_distribute=strategy, save_checkpoints_steps=50, preemption=True
    )
    estimator = est.LinearRegressor([tf.feature_column.numeric_column("x")], config=config)
    # After a restart this continues from the last checkpoint in model_dir.
    result = est.train_and_evaluate(
        estimator,
        est.TrainSpec(input_fn, max_steps),
        est.EvalSpec(input_fn, steps=10, start_delay_secs=0, throttle_secs=1),
    )
    return result and {name: float(value) for name, value in result[0].items()}


def main(model_dir, max_steps):
    """Runs the job in Spark, and prints its metrics."""
    # A restarted task needs a new process, in which TensorFlow knows no cluster yet.
    spark = SparkSession.builder.config("spark.python.worker.reuse", False).getOrCreate()
    stage = spark.sparkContext.parallelize(TASKS, len(TASKS)).barrier()
    results = stage.mapPartitions(lambda _: [train_or_evaluate(model_dir, max_steps)])
    # Spark repeats a barrier stage only if another stage, here of one task, reads its results.
    (metrics,) = filter(None, results.repartition(1).collect())
    print("metrics", json.dumps(metrics))


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), int(sys.argv[2]))
