"""BoostedTreesEstimator, BoostedTreesClassifier and BoostedTreesRegressor."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.canned.arguments import (
    Config,
    FeatureColumns,
    ModelDir,
    make_classifier_head,
    make_regressor_head,
)
from estimator_train.canned.boosted_trees.ensemble import Settings
from estimator_train.canned.boosted_trees.features import Features
from estimator_train.canned.boosted_trees.model import (
    BIAS,
    CONTRIBUTIONS,
    compute_feature_importances,
    make_explaining_model_fn,
    make_model_fn,
    name_contributions,
)
from estimator_train.canned.boosted_trees.original_checkpoints import convert_model_dir
from estimator_train.canned.boosted_trees.splits import compute_softmax_losses
from estimator_train.cluster import EVALUATOR
from estimator_train.estimator import Estimator
from estimator_train.heads import Head
from estimator_train.heads.keys import WeightColumn

_MEAN = tf.compat.v1.losses.Reduction.SUM_OVER_BATCH_SIZE


class _BoostedTrees(Estimator):
    """Base class of the estimators of boosted trees."""

    def __init__(
        self,
        head: Head,
        feature_columns: FeatureColumns,
        model_dir: ModelDir,
        config: Config,
        weight_column: WeightColumn,
        settings: Settings,
    ) -> None:
        self._head, self._settings = head, settings
        self._features = Features(feature_columns, settings)
        settings.check_size(self._features.bucket_count, head.logits_dimension)
        settings.check_logits(head.logits_dimension)
        model_fn = make_model_fn(head, self._features, settings, weight_column)
        self._converted_dir: str | None = None
        super().__init__(model_fn, model_dir, config)

    def latest_checkpoint(self) -> str | None:
        """Returns the latest checkpoint; one of tf.estimator is converted."""
        self._prepare_checkpoints()
        return super().latest_checkpoint()

    def experimental_feature_importances(self, normalize: bool = False) -> OrderedDict[str, float]:
        """Returns how much the splits of each feature column gained, the greatest first.

        Args:
          normalize: Whether to divide by the sum.

        Returns:
          Name of the column (of an indicator_column, of the categorical column in it) to gain.

        Raises:
          ValueError: There is no checkpoint, or no tree in it.
          AssertionError: There is nothing to normalize.
        """
        self._prepare_checkpoints()
        return compute_feature_importances(
            self.get_variable_value, self._features, normalize=normalize
        )

    def experimental_predict_with_explanations(
        self,
        input_fn: Any,
        predict_keys: Any = None,
        hooks: Any = None,
        checkpoint_path: str | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yields predictions with how much each feature column moved them.

            for row in estimator.experimental_predict_with_explanations(input_fn):
                print(row["probabilities"], row["bias"], row["dfc"])

        The model has `center_bias=True` and two classes, or labels of one number.

        Args:
          input_fn: As for `predict`.
          predict_keys: Names of further predictions to yield; all by default.
          hooks: As for `predict`.
          checkpoint_path: As for `predict`.

        Yields:
          Predictions of an example, with "bias": the probability of class 1 (or the number)
          that is predicted for every example, and "dfc": the contribution of each column, by name,
          the greatest first.

        Raises:
          ValueError: center_bias is False, or the head's predictions cannot be explained.
        """
        if not self._settings.center_bias:
            raise ValueError(
                "center_bias must be enabled during estimator instantiation when using "
                "experimental_predict_with_explanations."
            )
        self._prepare_checkpoints()
        model_fn = make_explaining_model_fn(self._head, self._features, self._settings)
        explaining = Estimator(model_fn, config=self.config)
        if predict_keys is not None:
            predict_keys = [predict_keys] if isinstance(predict_keys, str) else predict_keys
            predict_keys = [*predict_keys, BIAS, CONTRIBUTIONS]
        rows = explaining.predict(input_fn, predict_keys, hooks, checkpoint_path)
        return name_contributions(rows, self._features.names)

    def _prepare_checkpoints(self) -> None:
        """Converts the latest checkpoint if it is of tf.estimator; looks once at a directory."""
        # Other tasks of a cluster read no checkpoint, and would write the same files.
        reads_checkpoints = self.config.is_chief or self.config.task_type == EVALUATOR
        if reads_checkpoints and self._converted_dir != self.model_dir:
            convert_model_dir(
                self.model_dir, self._features, self._settings, self._head.logits_dimension
            )
            self._converted_dir = self.model_dir


class BoostedTreesEstimator(_BoostedTrees):
    """Gradient boosted decision trees of feature columns, with any head.

        columns = [tf.feature_column.bucketized_column(age, [20, 40, 60])]
        estimator = BoostedTreesEstimator(columns, n_batches_per_layer=1, head=head)

    Trees grow layer by layer: each layer is made of the derivatives of the loss over
    n_batches_per_layer batches (Friedman, "Greedy function approximation", 2001; Chen and Guestrin,
    "XGBoost", 2016; Ponomareva et al., "TF Boosted Trees", 2017). Training ends when all trees
    are grown.

    Args:
      feature_columns: Bucketized, indicator, numeric or categorical columns. Numeric ones are
        put into buckets by quantiles of the first n_batches_per_layer batches.
      n_batches_per_layer: Number of batches for a layer: the rows of the data divided by the
        batch size.
      head: Computes loss, metrics and predictions from logits.
      model_dir: See `Estimator`.
      weight_column: The feature with the weights of examples, by which the quantiles of numeric
        columns are taken; the head has its own.
      n_trees: Number of trees to grow.
      max_depth: Number of layers of a tree below its root.
      learning_rate: Factor of the weights of leaves.
      l1_regularization: l1 of the weights of leaves. Its scale is that of the sums of a
        batch's derivatives; if the loss is a mean, these sums are at most about 1.
      l2_regularization: l2 of the weights of leaves.
      tree_complexity: Minimum gain of a split, used with pruning.
      min_node_weight: Sum of second derivatives that a node needs to be split.
      config: See `Estimator`.
      center_bias: Whether the first steps fit a logit that all examples share.
      pruning_mode: "none"; "pre": a leaf whose best split gains less than tree_complexity stays
        one; or "post": such splits are taken back when the tree is finished.
      quantile_sketch_epsilon: 1 divided by the number of buckets of a numeric column.

    Raises:
      ValueError: A number is out of range, a column cannot be used, or the trees do not fit
        into memory.
    """

    def __init__(
        self,
        feature_columns: FeatureColumns,
        n_batches_per_layer: int,
        head: Head,
        model_dir: ModelDir = None,
        weight_column: WeightColumn = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: Config = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
    ) -> None:
        settings = Settings(
            n_batches_per_layer=n_batches_per_layer,
            n_trees=n_trees,
            max_depth=max_depth,
            learning_rate=learning_rate,
            l1_regularization=l1_regularization,
            l2_regularization=l2_regularization,
            tree_complexity=tree_complexity,
            min_node_weight=min_node_weight,
            center_bias=center_bias,
            pruning_mode=pruning_mode,
            quantile_sketch_epsilon=quantile_sketch_epsilon,
        )
        super().__init__(head, feature_columns, model_dir, config, weight_column, settings)


class BoostedTreesClassifier(_BoostedTrees):
    """Classifier of gradient boosted decision trees.

        age = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("age"), [20, 40])
        estimator = BoostedTreesClassifier([age], n_batches_per_layer=1)
        estimator.train(input_fn)

    Arguments that are not listed are those of `BoostedTreesEstimator`.

    Args:
      n_classes: Number of classes; labels are smaller. 2 with l1_regularization or center_bias.
      weight_column: Name of the feature with the weights of examples, or a numeric column. Negative
        weights are used unchanged, as in the original.
      label_vocabulary: Names of the classes if labels are strings.
      train_in_memory: Whether each batch is all the data, always in the same order: then
        n_batches_per_layer is 1, and buckets and logits of the examples stay in memory. Batches
        that differ train as without it, with a warning.

    Raises:
      ValueError, TypeError: As `BoostedTreesEstimator` and the heads.
      AssertionError: train_in_memory with several batches for a layer.
    """

    def __init__(
        self,
        feature_columns: FeatureColumns,
        n_batches_per_layer: int,
        model_dir: ModelDir = None,
        n_classes: int = 2,
        weight_column: WeightColumn = None,
        label_vocabulary: Sequence[str] | None = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: Config = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:
        head = make_classifier_head(
            n_classes,
            weight_column,
            label_vocabulary,
            _MEAN,
            v1=True,
            multi_class_loss_fn=compute_softmax_losses,
        )
        settings = Settings(
            n_batches_per_layer=n_batches_per_layer,
            n_trees=n_trees,
            max_depth=max_depth,
            learning_rate=learning_rate,
            l1_regularization=l1_regularization,
            l2_regularization=l2_regularization,
            tree_complexity=tree_complexity,
            min_node_weight=min_node_weight,
            center_bias=center_bias,
            pruning_mode=pruning_mode,
            quantile_sketch_epsilon=quantile_sketch_epsilon,
            train_in_memory=train_in_memory,
        )
        super().__init__(head, feature_columns, model_dir, config, weight_column, settings)


class BoostedTreesRegressor(_BoostedTrees):
    """Regressor of gradient boosted decision trees.

    Arguments that are not listed, and errors, are those of `BoostedTreesClassifier`.

    Args:
      label_dimension: Numbers in a label; 1 with l1_regularization or center_bias.
      weight_column: Name of the feature with the weights of examples, or a numeric column.
    """

    def __init__(
        self,
        feature_columns: FeatureColumns,
        n_batches_per_layer: int,
        model_dir: ModelDir = None,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: Config = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:
        head = make_regressor_head(label_dimension, weight_column, _MEAN, v1=True)
        settings = Settings(
            n_batches_per_layer=n_batches_per_layer,
            n_trees=n_trees,
            max_depth=max_depth,
            learning_rate=learning_rate,
            l1_regularization=l1_regularization,
            l2_regularization=l2_regularization,
            tree_complexity=tree_complexity,
            min_node_weight=min_node_weight,
            center_bias=center_bias,
            pruning_mode=pruning_mode,
            quantile_sketch_epsilon=quantile_sketch_epsilon,
            train_in_memory=train_in_memory,
        )
        super().__init__(head, feature_columns, model_dir, config, weight_column, settings)
