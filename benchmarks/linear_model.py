"""A linear model_fn for training, evaluation and prediction, for either API."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

FEATURES = 784


def linear_model_fn(api: ModuleType) -> Callable[..., Any]:
    """Returns a model_fn of softmax regression with ten classes.

    Args:
      api: estimator_train or tf.estimator.
    """

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        import tensorflow as tf

        get = tf.compat.v1.get_variable
        logits = features["x"] @ get("kernel", [FEATURES, 10]) + get("bias", [10])
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


def repeat_one_batch() -> Any:
    """Returns an infinite dataset of one batch of 32 examples for training."""
    import numpy as np
    import tensorflow as tf

    x, labels = np.zeros([32, FEATURES], np.float32), np.zeros([32], np.int64)
    return tf.data.Dataset.from_tensors(({"x": x}, labels)).repeat()


def train_linear(api: ModuleType, model_dir: str, hooks: Sequence[Any] = ()) -> Any:
    """Returns an Estimator of the linear model, after one step."""
    return api.Estimator(linear_model_fn(api), model_dir).train(repeat_one_batch, hooks, steps=1)
