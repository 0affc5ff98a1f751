"""`tf.contrib.layers`: layers as functions, regularizers, initializers, optimize_loss, columns."""

from estimator_train.legacy.contrib.layers.columns import (
    bucketized_column,
    create_feature_spec_for_parsing,
    crossed_column,
    embedding_column,
    input_from_feature_columns,
    one_hot_column,
    real_valued_column,
    sparse_column_with_hash_bucket,
    sparse_column_with_integerized_feature,
    sparse_column_with_keys,
    sparse_column_with_vocabulary_file,
)
from estimator_train.legacy.contrib.layers.convolution import (
    avg_pool2d,
    conv2d,
    conv2d_transpose,
    max_pool2d,
    separable_conv2d,
)
from estimator_train.legacy.contrib.layers.dense import (
    bias_add,
    bow_encoder,
    dropout,
    embed_sequence,
    flatten,
    fully_connected,
    linear,
    one_hot_encoding,
    relu,
    relu6,
    repeat,
    softmax,
    stack,
    unit_norm,
)
from estimator_train.legacy.contrib.layers.initializers import (
    variance_scaling_initializer,
    xavier_initializer,
)
from estimator_train.legacy.contrib.layers.normalization import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
)
from estimator_train.legacy.contrib.layers.optimizers import (
    OPTIMIZER_CLS_NAMES,
    OPTIMIZER_SUMMARIES,
    optimize_loss,
)
from estimator_train.legacy.contrib.layers.regularizers import (
    apply_regularization,
    l1_l2_regularizer,
    l1_regularizer,
    l2_regularizer,
    sum_regularizer,
)
from estimator_train.legacy.contrib.layers.summaries import (
    summarize_activation,
    summarize_activations,
    summarize_collection,
    summarize_tensor,
    summarize_tensors,
    summarize_variables,
)

convolution = convolution2d = conv2d
convolution2d_transpose = conv2d_transpose
separable_convolution2d = separable_conv2d
legacy_fully_connected = fully_connected
xavier_initializer_conv2d = xavier_initializer

__all__ = [
    "OPTIMIZER_CLS_NAMES",
    "OPTIMIZER_SUMMARIES",
    "apply_regularization",
    "avg_pool2d",
    "batch_norm",
    "bias_add",
    "bow_encoder",
    "bucketized_column",
    "conv2d",
    "conv2d_transpose",
    "convolution",
    "convolution2d",
    "convolution2d_transpose",
    "create_feature_spec_for_parsing",
    "crossed_column",
    "dropout",
    "embed_sequence",
    "embedding_column",
    "flatten",
    "fully_connected",
    "group_norm",
    "input_from_feature_columns",
    "instance_norm",
    "l1_l2_regularizer",
    "l1_regularizer",
    "l2_regularizer",
    "layer_norm",
    "linear",
    "max_pool2d",
    "one_hot_column",
    "one_hot_encoding",
    "optimize_loss",
    "real_valued_column",
    "relu",
    "relu6",
    "repeat",
    "separable_conv2d",
    "separable_convolution2d",
    "softmax",
    "sparse_column_with_hash_bucket",
    "sparse_column_with_integerized_feature",
    "sparse_column_with_keys",
    "sparse_column_with_vocabulary_file",
    "stack",
    "sum_regularizer",
    "summarize_activation",
    "summarize_activations",
    "summarize_collection",
    "summarize_tensor",
    "summarize_tensors",
    "summarize_variables",
    "unit_norm",
    "variance_scaling_initializer",
    "xavier_initializer",
]
