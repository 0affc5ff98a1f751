"""Contribution of each feature column to the prediction of an example.

Directional feature contributions: on its way down a tree an example's prediction changes with each
split; the change is that of the feature of the split. Contributions and bias add up to the
prediction (Palczewska et al., "Interpreting random forest models using a feature contribution
method", 2013).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.canned.boosted_trees.descent import find_nodes
from estimator_train.canned.boosted_trees.features import Features, look_up
from estimator_train.canned.boosted_trees.model import Model
from estimator_train.canned.boosted_trees.settings import Settings
from estimator_train.estimator_spec.spec import EstimatorSpec, ModeKeys
from estimator_train.heads import BinaryClassHead, Head, RegressionHead
from estimator_train.heads.types import FeatureTensors, Labels

BIAS, CONTRIBUTIONS = "bias", "dfc"


def make_explaining_model_fn(
    head: Head, split_on: Features, settings: Settings
) -> Callable[..., EstimatorSpec]:
    """Returns a model_fn whose predictions have the bias and the contributions of columns.

    Args:
      head: A `Head` of one logit.
      split_on: Features of the trees.
      settings: Settings of the model.

    Raises:
      ValueError: The head has other predictions than probabilities or the logits themselves.
    """
    activation = _get_activation(head)

    def model_fn(features: FeatureTensors, labels: Labels, mode: str) -> EstimatorSpec:
        model = Model(head.logits_dimension, split_on, settings, features, training=False)
        spec = head.create_estimator_spec(
            model.batch.features, ModeKeys.PREDICT, model.compute_logits(), labels
        )
        bias = activation(model.ensemble.trees.value[0, 0, 0])
        found = {
            BIAS: tf.fill(tf.shape(model.ids)[:1], bias),
            CONTRIBUTIONS: _compute_contributions(model, split_on, activation),
        }
        return spec._replace(predictions={**spec.predictions, **found})

    return model_fn


def name_contributions(
    predictions: Iterator[Mapping[str, Any]], names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yields predictions with the contributions of columns by name, the greatest first.

    Args:
      predictions: Those of a model of `make_explaining_model_fn`.
      names: The columns' names.
    """
    for row in predictions:
        found = row[CONTRIBUTIONS]
        order = np.argsort(-np.abs(found), kind="stable")
        named = OrderedDict((names[place], float(found[place])) for place in order)
        yield {**row, BIAS: float(row[BIAS]), CONTRIBUTIONS: named}


def _get_activation(head: Head) -> Callable[[tf.Tensor], tf.Tensor]:
    if isinstance(head, BinaryClassHead):
        return tf.sigmoid
    if isinstance(head, RegressionHead) and head._inverse_link_fn is None:
        return tf.identity
    raise ValueError(
        "For now only identity inverse_link_fn in regression_head is supported for "
        "experimental_predict_with_explanations."
    )


def _compute_contributions(
    model: Model, features: Features, activation: Callable[[tf.Tensor], tf.Tensor]
) -> tf.Tensor:
    """Computes the contributions of columns, float32 [batch, columns]."""
    ensemble = model.ensemble
    columns = len(features.names)
    batch = tf.shape(model.ids)[0]
    end = tf.minimum(ensemble.finished + 1, ensemble.count_rows())

    def add(tree: tf.Tensor, before: tf.Tensor, sums: tf.Tensor) -> Any:
        path = find_nodes(ensemble.trees, tree, features, model.ids, ensemble.max_depth)
        values = ensemble.trees.value[tree, :, 0]
        split = ensemble.trees.feature[tree]
        last = tf.shape(split)[0] - 1
        for here, there in zip(path, path[1:], strict=False):
            change = activation(before + tf.gather(values, there)) - activation(
                before + tf.gather(values, here)
            )
            feature = tf.maximum(tf.gather(split, tf.minimum(here, last)), 0)
            column = look_up(features.column_of, feature)
            sums += tf.one_hot(column, columns) * change[:, None]
        return tree + 1, before + tf.gather(values, path[-1]), sums

    start = [tf.constant(0), tf.zeros([batch]), tf.zeros([batch, columns])]
    return tf.while_loop(lambda tree, *_: tree < end, add, start)[2]
