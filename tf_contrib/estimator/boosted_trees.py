"""Stand-ins for the functions that create and train boosted trees in memory."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

import estimator_train as est
from tf_contrib._types import Column, Session

_LOG = tf.get_logger()


def boosted_trees_classifier_train_in_memory(
    train_input_fn: Callable[..., Any],
    feature_columns: Sequence[Any],
    model_dir: str | None = None,
    n_classes: int = 2,
    weight_column: str | Column | None = None,
    label_vocabulary: Sequence[str] | None = None,
    n_trees: int = 100,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    l1_regularization: float = 0.0,
    l2_regularization: float = 0.0,
    tree_complexity: float = 0.0,
    min_node_weight: float = 0.0,
    config: est.RunConfig | None = None,
    train_hooks: Sequence[Any] | None = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> est.BoostedTreesClassifier:
    """Creates a `BoostedTreesClassifier` and trains it on one batch with all examples.

    `train_input_fn` returns the batch, and `train_hooks` are hooks of the training. The other
    arguments and the errors are those of `BoostedTreesClassifier`.
    """
    return _train(est.BoostedTreesClassifier, dict(locals()))


def boosted_trees_regressor_train_in_memory(
    train_input_fn: Callable[..., Any],
    feature_columns: Sequence[Any],
    model_dir: str | None = None,
    label_dimension: int = 1,
    weight_column: str | Column | None = None,
    n_trees: int = 100,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    l1_regularization: float = 0.0,
    l2_regularization: float = 0.0,
    tree_complexity: float = 0.0,
    min_node_weight: float = 0.0,
    config: est.RunConfig | None = None,
    train_hooks: Sequence[Any] | None = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> est.BoostedTreesRegressor:
    """Creates and trains a regressor; see `boosted_trees_classifier_train_in_memory`."""
    return _train(est.BoostedTreesRegressor, dict(locals()))


def _train(estimator_class: type, arguments: dict[str, Any]) -> Any:
    """Trains an estimator of class `estimator_class`, given all arguments of a function above."""
    input_fn, hooks = arguments.pop("train_input_fn"), arguments.pop("train_hooks")
    batch = _FirstBatchHook()
    return estimator_class(n_batches_per_layer=1, train_in_memory=True, **arguments).train(
        batch.wrap(input_fn), [*(hooks or ()), batch]
    )


class _FirstBatchHook(tf.compat.v1.train.SessionRunHook):
    """Hook that provides the first batch of a dataset at every step, and warns about others."""

    def __init__(self) -> None:
        self._batches: tf.Tensor | None = None

    def wrap(self, input_fn: Callable[..., Any]) -> Callable[..., Any]:
        """Returns an input_fn whose dataset yields its first batch without end."""

        # The estimator provides the arguments that the signature of input_fn names.
        @functools.wraps(input_fn)
        def read_batch(*arguments: Any, **named: Any) -> Any:
            data = input_fn(*arguments, **named)
            if not isinstance(data, tf.data.Dataset):
                return data
            self._batches = data.cardinality()
            return data.take(1).cache().repeat()

        return read_batch

    def after_create_session(self, session: Session, coord: Any) -> None:
        """Logs a warning if the dataset is known to have several batches."""
        if self._batches is None:
            return
        count = int(session.run(self._batches))
        if count > 1:
            _LOG.warning(
                "train_input_fn has %d batches; training in memory uses only the first one. "
                "Put all examples into one batch.",
                count,
            )
