"""Stand-in for `tf.contrib.layers`: layers, regularizers, initializers, optimize_loss, columns."""

from estimator_train.legacy.contrib.layers.batch_normalization import batch_norm
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
    weighted_sparse_column,
)
from estimator_train.legacy.contrib.layers.columns.weighted import (
    weighted_sum_from_feature_columns,
)
from estimator_train.legacy.contrib.layers.convolution import (
    conv1d,
    conv2d,
    conv3d,
    convolution,
    convolution2d_transpose,
    separable_convolution2d,
)
from estimator_train.legacy.contrib.layers.dense import (
    bias_add,
    elu,
    fully_connected,
    legacy_fully_connected,
    legacy_linear,
    legacy_relu,
    linear,
    relu,
    relu6,
)
from estimator_train.legacy.contrib.layers.embedding import (
    bow_encoder,
    embed_sequence,
    embedding_lookup_unique,
    safe_embedding_lookup_sparse,
)
from estimator_train.legacy.contrib.layers.initializers import (
    variance_scaling_initializer,
    xavier_initializer,
)
from estimator_train.legacy.contrib.layers.normalization import (
    group_norm,
    instance_norm,
    layer_norm,
)
from estimator_train.legacy.contrib.layers.optimizers import (
    OPTIMIZER_CLS_NAMES,
    OPTIMIZER_SUMMARIES,
    optimize_loss,
)
from estimator_train.legacy.contrib.layers.pooling import (
    avg_pool2d,
    avg_pool3d,
    max_pool2d,
    max_pool3d,
)
from estimator_train.legacy.contrib.layers.regularizers import (
    apply_regularization,
    l1_l2_regularizer,
    l1_regularizer,
    l2_regularizer,
    sum_regularizer,
)
from estimator_train.legacy.contrib.layers.reversible import recompute_grad, rev_block
from estimator_train.legacy.contrib.layers.shaping import (
    dense_to_sparse,
    dropout,
    flatten,
    images_to_sequence,
    maxout,
    one_hot_encoding,
    scale_gradient,
    sequence_to_images,
    softmax,
    spatial_softmax,
    unit_norm,
)
from estimator_train.legacy.contrib.layers.stacking import repeat, stack
from estimator_train.legacy.contrib.layers.summaries import (
    summarize_activation,
    summarize_activations,
    summarize_biases,
    summarize_collection,
    summarize_tensor,
    summarize_tensors,
    summarize_variables,
    summarize_weights,
)

convolution1d, convolution2d, convolution3d = conv1d, conv2d, conv3d
conv2d_transpose = convolution2d_transpose
separable_conv2d = separable_convolution2d
xavier_initializer_conv2d = xavier_initializer

__all__ = [
    "OPTIMIZER_CLS_NAMES",
    "OPTIMIZER_SUMMARIES",
    "apply_regularization",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bias_add",
    "bow_encoder",
    "bucketized_column",
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "convolution",
    "convolution1d",
    "convolution2d",
    "convolution2d_transpose",
    "convolution3d",
    "create_feature_spec_for_parsing",
    "crossed_column",
    "dense_to_sparse",
    "dropout",
    "elu",
    "embed_sequence",
    "embedding_column",
    "embedding_lookup_unique",
    "flatten",
    "fully_connected",
    "group_norm",
    "images_to_sequence",
    "input_from_feature_columns",
    "instance_norm",
    "l1_l2_regularizer",
    "l1_regularizer",
    "l2_regularizer",
    "layer_norm",
    "legacy_fully_connected",
    "legacy_linear",
    "legacy_relu",
    "linear",
    "max_pool2d",
    "max_pool3d",
    "maxout",
    "one_hot_column",
    "one_hot_encoding",
    "optimize_loss",
    "real_valued_column",
    "recompute_grad",
    "relu",
    "relu6",
    "repeat",
    "safe_embedding_lookup_sparse",
    "scale_gradient",
    "rev_block",
    "separable_conv2d",
    "separable_convolution2d",
    "sequence_to_images",
    "softmax",
    "sparse_column_with_hash_bucket",
    "sparse_column_with_integerized_feature",
    "sparse_column_with_keys",
    "sparse_column_with_vocabulary_file",
    "spatial_softmax",
    "stack",
    "sum_regularizer",
    "summarize_activation",
    "summarize_activations",
    "summarize_biases",
    "summarize_collection",
    "summarize_tensor",
    "summarize_tensors",
    "summarize_variables",
    "summarize_weights",
    "unit_norm",
    "variance_scaling_initializer",
    "weighted_sparse_column",
    "weighted_sum_from_feature_columns",
    "xavier_initializer",
    "xavier_initializer_conv2d",
]
