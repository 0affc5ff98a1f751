"""Linear classifier of mapped features."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train.compat.v1 as v1
from tf_contrib._types import Column, Features
from tf_contrib.kernel_methods.mappers import RandomFourierFeatureMapper
from tf_contrib.layers.columns import real_valued_column
from tf_contrib.layers.columns.transforming import TransformedFeatures
from tf_contrib.learn.estimators import Estimator
from tf_contrib.learn.heads.classes import multi_class_head
from tf_contrib.learn.model_fns import ModelFnOps
from tf_contrib.learn.networks import LinearPart, build_linear_model


class KernelLinearClassifier(Estimator):
    """Linear classifier of columns, some of which are mapped first.

    Args:
      feature_columns: Columns that are not mapped.
      model_dir: Directory of the model.
      n_classes: Number of classes.
      weight_column_name: Name of the feature with the weights of examples.
      optimizer: Optimizer; by default Ftrl.
      kernel_mappers: Mappers of each numeric column, a list.
      config: Settings of the run.

    Raises:
      ValueError: There are neither columns nor mappers.
      TypeError: The mappers of a column are no list.
    """

    def __init__(
        self,
        feature_columns: Sequence[Column] | None = None,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        kernel_mappers: Mapping[Column, Sequence[RandomFourierFeatureMapper]] | None = None,
        config: v1.RunConfig | None = None,
    ) -> None:
        if not feature_columns and not kernel_mappers:
            raise ValueError("You should set at least one of feature_columns, kernel_mappers.")
        mappers = {column: list(ones) for column, ones in (kernel_mappers or {}).items()}
        head = multi_class_head(n_classes, weight_column_name=weight_column_name)
        mapped = [
            real_valued_column(_name(column), sum(one.output_dim for one in ones))
            for column, ones in mappers.items()
        ]
        part = LinearPart((*(feature_columns or ()), *mapped), optimizer)

        def model_fn(
            features: Features, labels: Any, mode: str, config: v1.RunConfig
        ) -> ModelFnOps:
            found = dict(features)
            cache = TransformedFeatures(found)
            for column, ones in mappers.items():
                values = cache.get(column)
                found[_name(column)] = tf.concat([one.map(values) for one in ones], 1)
            return build_linear_model(part, head, None, found, labels, mode, config)

        super().__init__(model_fn, model_dir, config)

    def predict_classes(self, input_fn: Callable[[], Any] | None = None) -> Iterator[Any]:
        """Yields the class of each example."""
        for row in self.predict(input_fn=input_fn, outputs=["classes"]):
            yield row["classes"]

    def predict_proba(self, input_fn: Callable[[], Any] | None = None) -> Iterator[np.ndarray]:
        """Yields the probabilities of the classes of each example."""
        for row in self.predict(input_fn=input_fn, outputs=["probabilities"]):
            yield row["probabilities"]


def _name(column: Column) -> str:
    return f"{column.name}_MAPPED"
