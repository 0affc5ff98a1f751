"""Classes of feature columns, and of the state and cache with which columns are called.

Why internal: `tf.feature_column` has only functions that create columns.
"""

import tensorflow as tf

# Why internal: the public functions that return such columns log that they are deprecated.
from tensorflow.python.feature_column.feature_column_v2 import (
    EmbeddingColumn as EmbeddingColumn,
    IndicatorColumn as IndicatorColumn,
    SharedEmbeddingColumn as SharedEmbeddingColumn,
)

FeatureColumn = tf.__internal__.feature_column.FeatureColumn
DenseColumn = tf.__internal__.feature_column.DenseColumn
SequenceDenseColumn = tf.__internal__.feature_column.SequenceDenseColumn
FeatureTransformationCache = tf.__internal__.feature_column.FeatureTransformationCache
StateManager = tf.__internal__.feature_column.StateManager
