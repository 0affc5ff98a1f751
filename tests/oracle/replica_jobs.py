"""Logs and evaluations under strategies of two devices; a separate program.

`replica_jobs.py` prints the answers of estimator_train.
"""

from __future__ import annotations

import json
import logging
import tempfile
from typing import Any

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
DEVICES = ["/cpu:0", "/cpu:1"]
STEPS = 6
STRATEGIES = {
    "mirrored": lambda: tf.distribute.MirroredStrategy(DEVICES),
    "central storage": lambda: tf.distribute.experimental.CentralStorageStrategy(DEVICES, "/cpu:0"),
}
OPTIMIZERS = {
    "momentum": lambda: tf1.train.MomentumOptimizer(0.1, 0.9),
    "adagrad": lambda: tf1.train.AdagradOptimizer(0.1),
    "adam": lambda: tf1.train.AdamOptimizer(0.1),
}

NAMES = [f"{strategy}, {kind}" for strategy in STRATEGIES for kind in (*OPTIMIZERS, "keras")]


def data(batch_size: int = 4) -> tf.data.Dataset:
    random = np.random.RandomState(0)
    x = random.randn(64, 3).astype(np.float32)
    y = (x.sum(1, keepdims=True) > 0).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(batch_size)


def model_fn_of(optimizer: Any, api: Any) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weights = tf1.get_variable("weights", initializer=np.float32([[0.5], [-1.0], [0.2]]))
        logits = tf.matmul(features, weights)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))
        train_op = None
        if mode == "train":
            train_op = optimizer().minimize(loss, tf1.train.get_global_step())
        probability = tf.sigmoid(logits)
        metrics = {
            "accuracy": tf1.metrics.accuracy(labels, tf.round(probability)),
            "auc": tf1.metrics.auc(labels, probability),
            "mean": tf1.metrics.mean(probability),
            "precision": tf1.metrics.precision(labels, tf.round(probability)),
            "error": tf1.metrics.root_mean_squared_error(labels, probability),
        }
        return api.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    return model_fn


def keras_estimator(api: Any, keras: Any, config: Any) -> Any:
    layer = keras.layers.Dense(
        1,
        activation="sigmoid",
        kernel_initializer=keras.initializers.Constant([[0.5], [-1.0], [0.2]]),
    )
    model = keras.Sequential([keras.layers.Input([3], name="x"), layer])
    optimizer = keras.optimizers.legacy.SGD(0.1)
    model.compile(optimizer, "binary_crossentropy", metrics=["binary_accuracy", "mae"])
    return keras.estimator.model_to_estimator(model, config=config)


def answer(estimator: Any) -> dict[str, Any]:
    """Logged losses, weights, and an evaluation in which replicas have different batches."""
    losses = []

    class Log(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = record.getMessage()
            if text.startswith("loss = "):
                losses.append(float(text.split()[2].rstrip(",")))

    handler = Log()
    tf.get_logger().setLevel(logging.INFO)
    tf.get_logger().addHandler(handler)
    estimator.train(lambda: data().repeat(), steps=STEPS)
    tf.get_logger().removeHandler(handler)
    metrics = estimator.evaluate(lambda: data(), steps=5)
    names = [name for name in estimator.get_variable_names() if "OPTIMIZER" not in name]
    name = min((name for name in names if "weights" in name or "kernel" in name), key=len)
    return {
        "losses": losses,
        "weights": np.ravel(estimator.get_variable_value(name)).tolist(),
        "metrics": {key: float(value) for key, value in metrics.items()},
    }


def answers(api: Any, keras: Any) -> dict[str, Any]:
    found = {}
    for strategy_name, make in STRATEGIES.items():

        def config(make: Any = make) -> Any:
            strategy = make()
            return api.RunConfig(
                tempfile.mkdtemp(),
                train_distribute=strategy,
                eval_distribute=strategy,
                log_step_count_steps=1,
                session_config=tf1.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True),
            )

        for name, optimizer in OPTIMIZERS.items():
            estimator = api.Estimator(model_fn_of(optimizer, api), config=config())
            found[f"{strategy_name}, {name}"] = answer(estimator)
        found[f"{strategy_name}, keras"] = answer(keras_estimator(api, keras, config()))
    return found


def main() -> None:
    import ask_heads_replicas
    import tf_keras

    import estimator_train

    ask_heads_replicas.two_devices()
    print(json.dumps(answers(estimator_train, tf_keras)))


if __name__ == "__main__":
    main()
