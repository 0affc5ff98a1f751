"""Which of a user's functions AutoGraph converts; a separate program: it configures devices.

Prints the answers of estimator_train.
"""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import ask_heads_replicas
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
DEVICES = ["/cpu:0", "/cpu:1"]
STRATEGIES: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "one device": lambda: tf.distribute.OneDeviceStrategy(DEVICES[0]),
    "mirrored": lambda: tf.distribute.MirroredStrategy(DEVICES),
    "central storage": lambda: tf1.distribute.experimental.CentralStorageStrategy(DEVICES),
}
METHODS = ("create_estimator_spec", "loss", "metrics", "predictions", "update_metrics")
NAMES = [
    *(f"{name}: model_fn, {mode}" for name in STRATEGIES for mode in ("train", "eval", "infer")),
    *(f"mirrored: model_fn as {form}" for form in ("object", "method", "partial")),
    *(f"mirrored: {fn} of a head" for fn in ("loss_fn", "train_op_fn")),
    *(f"mirrored: {kind} of a canned estimator" for kind in ("optimizer", "v1 optimizer")),
    *(f"mirrored: {name} of a head of one's own" for name in METHODS),
    "mirrored: inverse_link_fn of a head",
    "mirrored: metric_fn of add_metrics",
    "mirrored: input_fn",
]
COLUMN = tf.feature_column.numeric_column("x")


class Seen:
    """Whether the functions that asked were converted, by their names."""

    def __init__(self) -> None:
        self.converted: dict[str, bool] = {}

    def ask(self, name: str) -> None:
        """Records whether Python code can branch on a tensor: only converted code can."""
        try:
            if tf.constant(1.0) > 0:
                pass
            self.converted[name] = True
        except tf.errors.OperatorNotAllowedInGraphError:
            self.converted[name] = False


def data() -> tf.data.Dataset:
    x = np.float32([[1.0], [2.0], [3.0], [4.0]])
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x > 2)).batch(2).repeat(4)


def model_fn_of(api: Any, seen: Seen) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        seen.ask(f"model_fn, {mode}")
        weight = tf1.get_variable("weight", [])
        logits = features["x"] * weight
        if mode == "infer":
            return api.EstimatorSpec(mode, predictions=logits)
        loss = tf.reduce_mean((tf.cast(labels, tf.float32) - logits) ** 2)
        step = tf1.train.get_global_step()
        train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return api.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


def forms(model_fn: Any) -> Iterator[tuple[str, Any]]:
    """Returns one model_fn in several callable forms."""

    class Model:
        def __call__(self, features: Any, labels: Any, mode: str) -> Any:
            return model_fn(features, labels, mode)

        def method(self, features: Any, labels: Any, mode: str) -> Any:
            return model_fn(features, labels, mode)

    yield "object", Model()
    yield "method", Model().method
    yield "partial", functools.partial(model_fn)


def head_model_fn(heads: Any, seen: Seen) -> Any:
    def loss_fn(labels: Any, logits: Any) -> Any:
        seen.ask("loss_fn of a head")
        return (tf.cast(labels, tf.float32) - logits) ** 2

    def train_op_fn(loss: Any) -> Any:
        seen.ask("train_op_fn of a head")
        optimizer = tf1.train.GradientDescentOptimizer(0.1)
        return optimizer.minimize(loss, tf1.train.get_global_step())

    head = heads.BinaryClassHead(loss_fn=loss_fn)

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        logits = features["x"] * tf1.get_variable("weight", [])
        return head.create_estimator_spec(features, mode, logits, labels, train_op_fn=train_op_fn)

    return model_fn


def own_head(heads: Any, seen: Seen) -> Any:
    """Returns a head of a class of the user's, each of whose methods asks."""

    class Own(heads.BinaryClassHead):
        def create_estimator_spec(self, *arguments: Any, **named: Any) -> Any:
            seen.ask("create_estimator_spec of a head of one's own")
            return super().create_estimator_spec(*arguments, **named)

        def loss(self, *arguments: Any, **named: Any) -> Any:
            seen.ask("loss of a head of one's own")
            return super().loss(*arguments, **named)

        def metrics(self, *arguments: Any, **named: Any) -> Any:
            seen.ask("metrics of a head of one's own")
            return super().metrics(*arguments, **named)

        def predictions(self, *arguments: Any, **named: Any) -> Any:
            seen.ask("predictions of a head of one's own")
            return super().predictions(*arguments, **named)

        def update_metrics(self, *arguments: Any, **named: Any) -> Any:
            seen.ask("update_metrics of a head of one's own")
            return super().update_metrics(*arguments, **named)

    return Own()


def config(api: Any, strategy: str) -> Any:
    return api.RunConfig(
        tempfile.mkdtemp(),
        train_distribute=STRATEGIES[strategy](),
        eval_distribute=STRATEGIES[strategy](),
        session_config=tf1.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True),
    )


def answers(api: Any, v1_api: Any, heads: Any, keras: Any) -> dict[str, bool]:
    """Returns whether each function was converted, by strategy and function.

    Args:
        api: Where Estimator, RunConfig, EstimatorSpec and LinearClassifier are.
        v1_api: Where the LinearClassifier of tf.compat.v1 is.
        heads: Where the classes of heads are.
        keras: Where optimizers are.
    """
    found: dict[str, bool] = {}
    for strategy in STRATEGIES:
        seen = Seen()
        estimator = api.Estimator(model_fn_of(api, seen), config=config(api, strategy))
        estimator.train(data, steps=1)
        estimator.evaluate(data, steps=1)
        next(iter(estimator.predict(data)))
        found |= {f"{strategy}: {name}": yes for name, yes in seen.converted.items()}
    seen = Seen()
    for form, model_fn in forms(model_fn_of(api, seen)):
        api.Estimator(model_fn, config=config(api, "mirrored")).train(data, steps=1)
        found[f"mirrored: model_fn as {form}"] = seen.converted.pop("model_fn, train")
    api.Estimator(head_model_fn(heads, seen), config=config(api, "mirrored")).train(data, steps=1)
    ask_of_canned(api, v1_api, keras, seen)
    ask_of_heads(api, heads, seen)
    return found | {f"mirrored: {name}": yes for name, yes in seen.converted.items()}


def ask_of_canned(api: Any, v1_api: Any, keras: Any, seen: Seen) -> None:
    """Asks the functions that canned estimators and add_metrics call."""

    def optimizer() -> Any:
        seen.ask("optimizer of a canned estimator")
        return keras.optimizers.legacy.SGD(0.1)

    def v1_optimizer() -> Any:
        seen.ask("v1 optimizer of a canned estimator")
        return tf1.train.GradientDescentOptimizer(0.1)

    def metric_fn(predictions: Any) -> Any:
        seen.ask("metric_fn of add_metrics")
        metric = keras.metrics.Mean("mean_logit")
        metric.update_state(predictions["logits"])
        return {"mean_logit": metric}

    def input_fn() -> Any:
        seen.ask("input_fn")
        return data()

    linear = api.LinearClassifier([COLUMN], optimizer=optimizer, config=config(api, "mirrored"))
    linear.train(input_fn, steps=1)
    api.add_metrics(linear, metric_fn).evaluate(data, steps=1)
    v1_linear = v1_api.LinearClassifier(
        [COLUMN], optimizer=v1_optimizer, config=config(api, "mirrored")
    )
    v1_linear.train(data, steps=1)


def ask_of_heads(api: Any, heads: Any, seen: Seen) -> None:
    """Asks the methods of a user's head, and the functions given to a head."""

    def inverse_link_fn(logits: Any) -> Any:
        seen.ask("inverse_link_fn of a head")
        return tf.exp(logits)

    own = own_head(heads, seen)
    estimator = api.LinearEstimator(own, [COLUMN], config=config(api, "mirrored"))
    estimator.train(data, steps=1)
    estimator.evaluate(data, steps=1)
    counts = heads.RegressionHead(inverse_link_fn=inverse_link_fn)
    api.LinearEstimator(counts, [COLUMN], config=config(api, "mirrored")).train(data, steps=1)


def main() -> None:
    import tf_keras

    import estimator_train
    from estimator_train import heads
    from estimator_train.compat import v1

    ask_heads_replicas.two_devices()
    print(json.dumps(answers(estimator_train, v1, heads, tf_keras)))


if __name__ == "__main__":
    main()
