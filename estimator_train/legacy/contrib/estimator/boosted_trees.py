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
    """Returns a `BoostedTreesClassifier` that is trained on one batch of all the data.

    Arguments and errors are its; `train_input_fn` returns the batch, and `train_hooks` see the
    training.
    """
    return _trained(est.BoostedTreesClassifier, dict(locals()))


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
    """Returns a trained `BoostedTreesRegressor`; see `boosted_trees_classifier_train_in_memory`."""
    return _trained(est.BoostedTreesRegressor, dict(locals()))


def _trained(kind: Any, arguments: dict[str, Any]) -> Any:
    """An estimator of some arguments of the functions above, trained."""
    input_fn, hooks = arguments.pop("train_input_fn"), arguments.pop("train_hooks")
    return kind(n_batches_per_layer=1, train_in_memory=True, **arguments).train(input_fn, hooks)
