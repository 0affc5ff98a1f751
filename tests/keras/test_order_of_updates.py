"""Updates of tf_keras layers run in the order in which layers add them, as in `fit`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import estimator_train as est


class CountingLayer(tf_keras.layers.Layer):
    """Layer that counts batches, and adds up the counts; with a condition if it is asked for."""

    def __init__(self, is_conditional: bool = False, **settings: Any) -> None:
        super().__init__(**settings)
        self.is_conditional = is_conditional

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "is_conditional": self.is_conditional}

    def build(self, shape: Any) -> None:
        self.count = self.add_weight("count", [], tf.float32, "zeros", trainable=False)
        self.total = self.add_weight("total", [], tf.float32, "zeros", trainable=False)
        self.scale = self.add_weight("scale", [], tf.float32, "ones")

    def _count(self) -> tf.Tensor:
        if not self.is_conditional:
            return self.count.assign_add(1.0)
        add = lambda: tf.identity(self.count.assign_add(1.0))  # noqa: E731
        return tf.cond(self.scale.read_value() > -1e9, add, lambda: tf.constant(0.0))

    def call(self, inputs: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        if training:
            for _ in range(2):
                self.add_update(self._count())
            self.add_update(self.total.assign_add(self.count.read_value()))
        return inputs * self.scale


def rows() -> tf.data.Dataset:
    values = np.ones([12, 2], np.float32)
    return tf.data.Dataset.from_tensor_slices((values, values)).batch(4)


@pytest.mark.parametrize("is_conditional", [False, True], ids=["plain", "conditional"])
def test_a_later_update_sees_the_earlier_ones(is_conditional: bool, tmp_path: Path) -> None:
    layer = CountingLayer(is_conditional, name="counting")
    model = tf_keras.Sequential([tf_keras.layers.InputLayer([2]), layer])
    model.compile("sgd", "mse")
    estimator = est.keras.model_to_estimator(
        model, model_dir=str(tmp_path), checkpoint_format="saver"
    )
    estimator.train(lambda: rows().repeat(), steps=20)
    assert estimator.get_variable_value("counting/count") == 40
    assert estimator.get_variable_value("counting/total") == sum(range(2, 41, 2))
