"""`tf.contrib.estimator.boosted_trees_*_train_in_memory`: make an estimator and train it."""

from collections.abc import Callable, Sequence
from typing import Any

import estimator_train as est


def boosted_trees_classifier_train_in_memory(
    train_input_fn: Callable[..., Any],
    feature_columns: Sequence[Any],
    model_dir: Any = None,
    n_classes: int = 2,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    n_trees: int = 100,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    l1_regularization: float = 0.0,
    l2_regularization: float = 0.0,
    tree_complexity: float = 0.0,
    min_node_weight: float = 0.0,
    config: Any = None,
    train_hooks: Sequence[Any] | None = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> est.BoostedTreesClassifier:
    """Returns a trained `BoostedTreesClassifier`; arguments and errors are its, but for these.

    Args:
      train_input_fn: Returns all the data in one batch, each time it is asked for one.
      train_hooks: Hooks of the training, or None.
    """
    estimator = est.BoostedTreesClassifier(
        feature_columns,
        1,
        model_dir,
        n_classes,
        weight_column,
        label_vocabulary,
        n_trees,
        max_depth,
        learning_rate,
        l1_regularization,
        l2_regularization,
        tree_complexity,
        min_node_weight,
        config,
        center_bias,
        pruning_mode,
        quantile_sketch_epsilon,
        train_in_memory=True,
    )
    estimator.train(train_input_fn, hooks=train_hooks)
    return estimator


def boosted_trees_regressor_train_in_memory(
    train_input_fn: Callable[..., Any],
    feature_columns: Sequence[Any],
    model_dir: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
    n_trees: int = 100,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    l1_regularization: float = 0.0,
    l2_regularization: float = 0.0,
    tree_complexity: float = 0.0,
    min_node_weight: float = 0.0,
    config: Any = None,
    train_hooks: Sequence[Any] | None = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> est.BoostedTreesRegressor:
    """Returns a trained `BoostedTreesRegressor`; arguments and errors are its, but for these.

    Args:
      train_input_fn: Returns all the data in one batch, each time it is asked for one.
      train_hooks: Hooks of the training, or None.
    """
    estimator = est.BoostedTreesRegressor(
        feature_columns,
        1,
        model_dir,
        label_dimension,
        weight_column,
        n_trees,
        max_depth,
        learning_rate,
        l1_regularization,
        l2_regularization,
        tree_complexity,
        min_node_weight,
        config,
        center_bias,
        pruning_mode,
        quantile_sketch_epsilon,
        train_in_memory=True,
    )
    estimator.train(train_input_fn, hooks=train_hooks)
    return estimator
