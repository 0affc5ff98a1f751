"""A linear model_fn for training, evaluation and prediction, for either API."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

FEATURES = 784


def linear_model_fn(api: ModuleType, classes: int = 10) -> Callable[..., Any]:
    """Returns a model_fn of softmax regression.

    Args:
      api: estimator_train or tf.estimator.
      classes: Size of the output.
    """

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        import tensorflow as tf

        logits = _dense(features["x"], classes)
        if mode == api.ModeKeys.PREDICT:
            return api.EstimatorSpec(mode, predictions={"logits": logits})
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )
        step = tf.compat.v1.train.get_global_step()
        train_op = tf.compat.v1.train.GradientDescentOptimizer(0.01).minimize(loss, step)
        return api.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


def make_rows(count: int) -> Any:
    """Returns noise, float32 of shape [count, FEATURES]."""
    import numpy as np

    return np.random.RandomState(0).standard_normal([count, FEATURES]).astype(np.float32)


def train_linear(api: ModuleType, model_dir: str) -> Any:
    """Returns an Estimator of the linear model that has a checkpoint."""
    import numpy as np
    import tensorflow as tf

    def input_fn() -> Any:
        labels = np.zeros([32], np.int64)
        return tf.data.Dataset.from_tensors(({"x": make_rows(32)}, labels)).repeat()

    return api.Estimator(linear_model_fn(api), model_dir).train(input_fn, steps=1)


def _dense(x: Any, classes: int) -> Any:
    import tensorflow as tf

    get = tf.compat.v1.get_variable
    return x @ get("kernel", [FEATURES, classes]) + get("bias", [classes])
