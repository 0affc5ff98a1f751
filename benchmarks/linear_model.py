"""A linear model_fn that predicts, evaluates and trains, for either API."""

from collections.abc import Callable
from typing import Any

FEATURES = 784


def linear_model_fn(api: Any, classes: int = 10) -> Callable[..., Any]:
    """A model_fn of softmax regression.

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


def rows(count: int) -> Any:
    """Noise, float32 [count, FEATURES]."""
    import numpy as np

    return np.random.RandomState(0).standard_normal([count, FEATURES]).astype(np.float32)


def trained(api: Any, model_dir: str) -> Any:
    """An Estimator of the linear model with a checkpoint."""
    import numpy as np
    import tensorflow as tf

    def input_fn() -> Any:
        labels = np.zeros([32], np.int64)
        return tf.data.Dataset.from_tensors(({"x": rows(32)}, labels)).repeat()

    return api.Estimator(linear_model_fn(api), model_dir).train(input_fn, steps=1)


def _dense(x: Any, classes: int) -> Any:
    import tensorflow as tf

    get = tf.compat.v1.get_variable
    return x @ get("kernel", [FEATURES, classes]) + get("bias", [classes])
