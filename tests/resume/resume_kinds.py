"""The kinds of estimators and the strategies of the resume matrix, and the cells without a job.

LinearSDCA is no kind: its operation draws examples at random, so that two unbroken runs differ.
RNN and boosted trees estimators are the same classes in v1 and v2; KMeans is only in v1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
import tf_keras

import estimator_train as est
from estimator_train.compat import v1

tf1 = tf.compat.v1
WIDTH = 2

OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "new": lambda: tf_keras.optimizers.Adam(0.1),
    "legacy": lambda: tf_keras.optimizers.legacy.Adam(0.1),
    "v1": lambda: tf1.train.AdamOptimizer(0.1),
}


def make_strategy(name: str) -> Any:
    """Returns the strategy for RunConfig(train_distribute=...), or None."""
    devices = ["/cpu:0", "/cpu:1"]
    makers: dict[str, Callable[[], Any]] = {
        "none": lambda: None,
        "one_device": lambda: tf.distribute.OneDeviceStrategy("/cpu:0"),
        "mirrored": lambda: tf.distribute.MirroredStrategy(devices),
        "central_storage": lambda: tf.distribute.experimental.CentralStorageStrategy(
            devices, "/cpu:0"
        ),
        "multi_worker": tf.distribute.MultiWorkerMirroredStrategy,
        "ps": lambda: None,
        "ps_strategy": tf1.distribute.experimental.ParameterServerStrategy,
    }
    return makers[name]()


def _keras(checkpoint_format: str, optimizer: str) -> Callable[[Any], Any]:
    def make(config: Any) -> Any:
        tf_keras.utils.set_random_seed(1)
        inputs = tf_keras.Input([WIDTH], name="x")
        hidden = tf_keras.layers.Dense(3, "tanh", name="hidden")(inputs)
        outputs = tf_keras.layers.Dense(1, name="out")(hidden)
        model = tf_keras.Model(inputs, outputs)
        model.compile(OPTIMIZERS[optimizer](), "mse")
        return est.keras.model_to_estimator(
            model, config=config, checkpoint_format=checkpoint_format
        )

    return make


def _model_fn(optimizer: str) -> Callable[..., Any]:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weights = tf1.get_variable("weights", [WIDTH, 1], initializer=tf1.zeros_initializer())
        loss = tf.reduce_mean((features["x"] @ weights - labels) ** 2)
        step = tf1.train.get_global_step()
        if optimizer == "v1":
            train_op = tf1.train.AdamOptimizer(0.1).minimize(loss, step)
        elif optimizer == "legacy":
            keras = OPTIMIZERS[optimizer]()
            keras.iterations = step
            (train_op,) = keras.get_updates(loss, [weights])
        else:
            keras = OPTIMIZERS[optimizer]()
            keras.build([weights])
            gradients = tf.gradients(loss, [weights])
            updates = keras.apply_gradients(zip(gradients, [weights], strict=True))
            train_op = tf.group(updates, step.assign_add(1))
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


def _of_model_fn(optimizer: str) -> Callable[[Any], Any]:
    return lambda config: est.Estimator(_model_fn(optimizer), config=config)


def _tpu(config: Any) -> Any:
    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
        spec = _model_fn("v1")(features, labels, mode)
        return v1.tpu.TPUEstimatorSpec(mode, loss=spec.loss, train_op=spec.train_op)

    of_tpu = v1.tpu.RunConfig(
        model_dir=config.model_dir,
        tf_random_seed=1,
        save_checkpoints_steps=config.save_checkpoints_steps,
        keep_checkpoint_max=None,
        preemption=config.preemption,
        session_config=config.session_config,
        train_distribute=config.train_distribute,
        experimental_max_worker_delay_secs=0,
    )
    return v1.tpu.TPUEstimator(model_fn, config=of_tpu, use_tpu=False, train_batch_size=4)


def _columns() -> list[Any]:
    return [tf.feature_column.numeric_column("x", [WIDTH])]


def _buckets() -> list[Any]:
    (column,) = _columns()
    return [tf.feature_column.bucketized_column(column, [-0.5, 0.0, 0.5])]


_CANNED: dict[str, Callable[[Any], Any]] = {
    "baseline": lambda m: lambda config: m.BaselineRegressor(config=config),
    "linear": lambda m: lambda config: m.LinearRegressor(_columns(), config=config),
    "dnn": lambda m: lambda config: m.DNNRegressor([3], _columns(), config=config),
    "dnn_linear": lambda m: (
        lambda config: m.DNNLinearCombinedRegressor(
            linear_feature_columns=_columns(),
            dnn_feature_columns=_columns(),
            dnn_hidden_units=[3],
            config=config,
        )
    ),
}


def _kmeans(config: Any) -> Any:
    return v1.experimental.KMeans(
        2, initial_clusters=[[-0.5] * WIDTH, [0.5] * WIDTH], config=config
    )


def _rnn(config: Any) -> Any:
    tf_keras.utils.set_random_seed(1)
    columns = [tf.feature_column.sequence_numeric_column("x")]
    head = est.RegressionHead()
    return est.experimental.RNNEstimator(head, columns, units=[3], config=config)


# Name of a kind of estimator to what makes its features of a batch [4, WIDTH], if not {"x": batch}.
FEATURES: dict[str, Callable[[tf.Tensor], Any]] = {"rnn": lambda x: {"x": tf.sparse.from_dense(x)}}
# Maps the name of a kind of estimator to a function that builds it from a RunConfig.
KINDS: dict[str, Callable[[Any], Any]] = {
    **{f"keras_{f}_{o}": _keras(f, o) for f in ("checkpoint", "saver") for o in OPTIMIZERS},
    "model_fn_v1": _of_model_fn("v1"),
    "model_fn_legacy": _of_model_fn("legacy"),
    "model_fn_new": _of_model_fn("new"),
    **{f"{name}_v2": make(est) for name, make in _CANNED.items()},
    **{f"{name}_v1": make(v1) for name, make in _CANNED.items()},
    "boosted_trees": lambda config: est.BoostedTreesRegressor(
        _buckets(), n_batches_per_layer=1, n_trees=10, max_depth=2, config=config
    ),
    "kmeans": _kmeans,
    "rnn": _rnn,
    "tpu": _tpu,
}

STRATEGIES = (
    "none",
    "one_device",
    "mirrored",
    "central_storage",
    "multi_worker",
    "ps",
    "ps_strategy",
)
_SLOTS_OF_ONE_NAME = (
    "Slots of tf-keras optimizers have one name on both devices, and a saver that names variables "
    "raises ValueError, in tf.estimator too."
)
# (kind, strategy) to the reason why there is no such job.
ABSENT = {
    **{
        ("boosted_trees", strategy): "Boosted trees refuse several replicas."
        for strategy in ("mirrored", "central_storage", "multi_worker")
    },
    **{
        (kind, "central_storage"): "tf.estimator refuses it with the same ValueError."
        for kind in ("kmeans", "rnn")
    },
    **{
        (kind, "central_storage"): _SLOTS_OF_ONE_NAME
        for kind in (
            "keras_saver_new",
            "keras_saver_legacy",
            "model_fn_legacy",
            "model_fn_new",
            "linear_v2",
            "dnn_v2",
            "dnn_linear_v2",
            "baseline_v2",
        )
    },
}
