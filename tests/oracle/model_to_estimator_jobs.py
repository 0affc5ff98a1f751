"""What small Keras models come to as Estimators: optimizers, losses, metrics, sample weights.

Nothing here imports the original or estimator_train; see `jobs`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from jobs import Api, values

tf1 = tf.compat.v1
ROWS, BATCH = 32, 8
X = values(ROWS, 4, seed=1)
Z = values(ROWS, 3, seed=2)
Y = X.sum(axis=1, keepdims=True)
POSITIVE = (Y > 0).astype(np.float32)
CLASSES = np.arange(ROWS, dtype=np.int32)[:, None] % 3
WORDS = np.arange(ROWS * 5, dtype=np.int32).reshape(ROWS, 5) * 7 % 6
WEIGHTS = np.abs(values(ROWS, seed=3))


def weighted(features: Any, weights: Any) -> dict[str, Any]:
    """Features with sample weights, as input_fns give them."""
    return {"features": features, "sample_weights": weights}


def fixed(model: Any) -> Any:
    """Returns the model with weights that are the same everywhere."""
    model.set_weights(
        [
            0.5 * values(*w.shape, seed=i) if w.ndim > 1 else w
            for i, w in enumerate(model.get_weights())
        ]
    )
    return model


def _two_layers(api: Api) -> Any:
    layers = api.keras.layers
    inputs = api.keras.Input([4], name="x")
    hidden = layers.Dense(3, activation="tanh", name="hidden")(inputs)
    return fixed(api.keras.Model(inputs, layers.Dense(1, name="out")(hidden)))


def _rows() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat().batch(BATCH)


def _by_name(name: str, *args: Any, **kwargs: Any) -> Callable[[Api], Any]:
    return lambda api: getattr(api.keras.optimizers, name)(*args, **kwargs)


OPTIMIZERS: dict[str, Callable[[Api], Any]] = {
    "sgd_nesterov": _by_name("SGD", 0.1, momentum=0.9, nesterov=True),
    "sgd_clipnorm": _by_name("SGD", 0.1, clipnorm=0.1),
    "sgd_global_clipnorm": _by_name("SGD", 0.1, global_clipnorm=0.1),
    "adam_clipvalue": _by_name("Adam", 0.1, clipvalue=0.01),
    "adam_amsgrad": _by_name("Adam", 0.1, amsgrad=True),
    "rmsprop_centered": _by_name("RMSprop", 0.01, momentum=0.5, centered=True),
    "adagrad": _by_name("Adagrad", 0.1),
    "adadelta": _by_name("Adadelta", 1.0),
    "adamax": _by_name("Adamax", 0.1),
    "nadam": _by_name("Nadam", 0.1),
    "ftrl": _by_name("Ftrl", 0.1, l1_regularization_strength=0.01),
    "by_name": lambda api: "adagrad",
    "schedule": lambda api: api.keras.optimizers.Adam(
        api.keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)
    ),
    "legacy_decay": lambda api: api.keras.optimizers.legacy.SGD(0.1, decay=0.5),
    "loss_scaling": lambda api: api.keras.mixed_precision.LossScaleOptimizer(
        api.keras.optimizers.SGD(0.1, momentum=0.9)
    ),
    "v1_momentum": lambda api: tf1.train.MomentumOptimizer(0.1, 0.9),
    "v1_adam": lambda api: tf1.train.AdamOptimizer(0.1),
    "v1_ftrl": lambda api: tf1.train.FtrlOptimizer(0.1),
}


def observe_optimizer(name: str, api: Api, base: str) -> dict[str, Any]:
    """Losses of 5 steps, and the names of variables in checkpoints of both formats."""
    losses = []

    class Note(tf1.train.SessionRunHook):
        def before_run(self, run_context: Any) -> Any:
            (loss,) = tf1.get_collection(tf1.GraphKeys.LOSSES)
            return tf1.train.SessionRunArgs(loss)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            losses.append(float(run_values.results))

    names = {}
    for format_ in ("saver", "checkpoint"):
        model = _two_layers(api)
        model.compile(OPTIMIZERS[name](api), "mse")
        model_dir = str(Path(base) / format_)
        estimator = api.model_to_estimator(model, model_dir=model_dir, checkpoint_format=format_)
        path = str(Path(model_dir) / "keras" / "keras_model.ckpt")
        names[format_] = [key for key, _ in tf.train.list_variables(path)]
        if format_ == "saver":
            estimator.train(_rows, [Note()], steps=5)
    return {"losses": losses, "names": names}


class Case:
    """A model, its compile arguments, and its input."""

    def __init__(
        self, build: Callable[[Api], Any], features: Any, labels: Any, **arguments: Any
    ) -> None:
        self.build = build
        self.features = features
        self.labels = labels
        self.arguments = arguments

    def observe(self, api: Api, base: str) -> dict[str, Any]:
        """Results of an evaluation after 2 steps of training, and the variables."""
        arguments = {"model_dir": base, "checkpoint_format": "saver", **self.arguments}
        estimator = api.model_to_estimator(self.build(api), **arguments)

        def data() -> tf.data.Dataset:
            parts = (self.features, self.labels)
            return tf.data.Dataset.from_tensor_slices(parts).batch(BATCH)

        estimator.train(data, steps=2)
        result = estimator.evaluate(data)
        return {
            "result": {key: float(value) for key, value in result.items()},
            "names": sorted(estimator.get_variable_names()),
        }


def _one_output(**compile_arguments: Any) -> Callable[[Api], Any]:
    def build(api: Api) -> Any:
        model = _two_layers(api)
        model.compile(api.keras.optimizers.SGD(0.1), "mse", **compile_arguments)
        return model

    return build


def _two_outputs(loss: Any, **compile_arguments: Any) -> Callable[[Api], Any]:
    def build(api: Api) -> Any:
        layers = api.keras.layers
        left, right = api.keras.Input([4], name="left"), api.keras.Input([3], name="right")
        both = layers.Concatenate(name="both")([left, right])
        total = layers.Dense(1, name="total")(both)
        classes = layers.Dense(3, activation="softmax", name="classes")(both)
        model = fixed(api.keras.Model([left, right], [total, classes]))
        model.compile(api.keras.optimizers.SGD(0.1), loss, **compile_arguments)
        return model

    return build


def _classifier(loss: str, units: int, metric: str) -> Callable[[Api], Any]:
    def build(api: Api) -> Any:
        inputs = api.keras.Input([4], name="x")
        outputs = api.keras.layers.Dense(units, activation="sigmoid", name="out")(inputs)
        model = fixed(api.keras.Model(inputs, outputs))
        model.compile(api.keras.optimizers.SGD(0.1), loss, metrics=[metric])
        return model

    return build


def _with_layer_losses(api: Api) -> Any:
    layers, l1 = api.keras.layers, api.keras.regularizers.l1(0.01)
    inputs = api.keras.Input([4], name="x")
    hidden = layers.Dense(3, activity_regularizer=l1, name="hidden")(inputs)
    outputs = layers.Dense(1, kernel_regularizer=l1, name="out")(hidden)
    model = fixed(api.keras.Model(inputs, outputs))
    model.compile(api.keras.optimizers.SGD(0.1), "mse")
    return model


def _masked(api: Api) -> Any:
    layers = api.keras.layers
    model = api.keras.Sequential(
        [
            layers.Embedding(6, 4, mask_zero=True, input_length=5, name="words"),
            layers.SimpleRNN(3, return_sequences=True, name="rnn"),
            layers.Dense(1, name="out"),
        ]
    )
    fixed(model)
    model.compile(api.keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    return model


def _nested(api: Api) -> Any:
    layers = api.keras.layers
    inner = api.keras.Sequential(
        [
            layers.Dense(3, use_bias=False, input_shape=(4,), name="inner"),
            layers.BatchNormalization(momentum=0.5, name="norm"),
        ],
        name="block",
    )
    inputs = api.keras.Input([4], name="x")
    model = fixed(api.keras.Model(inputs, layers.Dense(1, name="out")(inner(inputs))))
    model.compile(api.keras.optimizers.SGD(0.1), "mse")
    return model


def _subclassed(api: Api) -> Any:
    ones = {"kernel_initializer": "ones"}

    class Mine(api.keras.Model):
        def __init__(self, units: int = 2) -> None:
            super().__init__()
            self.layers_in_list = [api.keras.layers.Dense(units, "tanh", **ones)]
            self.norm = api.keras.layers.BatchNormalization()
            self.last = api.keras.layers.Dense(1, **ones)

        def call(self, inputs: Any, training: Any = None) -> Any:
            hidden = self.layers_in_list[0](inputs)
            return self.last(hidden), self.norm(hidden, training=training)

    model = Mine(3)
    model.compile(api.keras.optimizers.SGD(0.1), ["mse", "mae"], metrics=["mae"])
    return model


_LOSSES = {"total": "mse", "classes": "sparse_categorical_crossentropy"}
_BOTH = {"left": X, "right": Z}
_LABELS = {"total": Y, "classes": CLASSES}
_ONE_HOT = np.eye(3, dtype=np.float32)[CLASSES[:, 0]]
_NAMES_MAP = {"total_mae": "error", "classes_accuracy": "hits"}

CASES = {
    "labels_by_name": Case(_one_output(metrics=["mae"]), {"x": X}, {"out": Y}),
    "labels_of_rank_1": Case(_one_output(metrics=["mae", "mse"]), X, Y[:, 0]),
    "sample_weights": Case(_one_output(metrics=["mae"]), weighted({"x": X}, WEIGHTS), Y),
    "two_outputs": Case(
        _two_outputs(
            _LOSSES,
            loss_weights={"total": 0.5, "classes": 2.0},
            metrics={"total": "mae", "classes": ["accuracy"]},
        ),
        _BOTH,
        _LABELS,
    ),
    "two_outputs_in_lists": Case(
        _two_outputs(list(_LOSSES.values()), loss_weights=[0.5, 2.0], metrics=[["mae"], ["acc"]]),
        (X, Z),
        (Y, CLASSES),
    ),
    "one_loss_for_two_outputs": Case(_two_outputs("mse"), _BOTH, (Y, _ONE_HOT)),
    "sample_weights_of_two_outputs": Case(
        _two_outputs(_LOSSES), weighted(_BOTH, {"total": WEIGHTS, "classes": 2 * WEIGHTS}), _LABELS
    ),
    "metric_names_map": Case(
        _two_outputs(_LOSSES, metrics={"total": "mae", "classes": "accuracy"}),
        _BOTH,
        _LABELS,
        metric_names_map=_NAMES_MAP,
    ),
    "accuracy_of_classes": Case(
        _classifier("sparse_categorical_crossentropy", 3, "accuracy"), X, CLASSES
    ),
    "accuracy_of_one_hot": Case(_classifier("categorical_crossentropy", 3, "acc"), X, _ONE_HOT),
    "accuracy_of_many_labels": Case(_classifier("binary_crossentropy", 3, "accuracy"), X, _ONE_HOT),
    "accuracy_of_one_unit": Case(_classifier("mse", 1, "accuracy"), X, POSITIVE),
    "crossentropy": Case(_classifier("mse", 3, "crossentropy"), X, _ONE_HOT),
    "auc": Case(_classifier("mse", 1, "AUC"), X, POSITIVE),
    "layer_losses": Case(_with_layer_losses, X, Y),
    "masked_steps": Case(_masked, WORDS, np.repeat(Y[:, None], 5, axis=1)),
    "model_in_a_model": Case(_nested, X, Y),
    "subclassed": Case(_subclassed, X, (Y, np.repeat(Y, 3, axis=1))),
}
