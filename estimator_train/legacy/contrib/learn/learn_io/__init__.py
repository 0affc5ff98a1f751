"""Stand-in for `tf.contrib.learn.learn_io`: input of arrays, frames and files of records."""

import estimator_train.compat.v1 as v1
from estimator_train.legacy.contrib.learn.learn_io.features import (
    queue_parsed_features,
    read_batch_features,
    read_batch_record_features,
    read_keyed_batch_features,
    read_keyed_batch_features_shared_queue,
)
from estimator_train.legacy.contrib.learn.learn_io.graph_io import (
    read_batch_examples,
    read_keyed_batch_examples,
    read_keyed_batch_examples_shared_queue,
)
from estimator_train.legacy.contrib.learn.learn_io.pandas_io import (
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
)

numpy_input_fn = v1.inputs.numpy_input_fn
pandas_input_fn = v1.inputs.pandas_input_fn
__all__ = [
    "extract_pandas_data",
    "extract_pandas_labels",
    "extract_pandas_matrix",
    "numpy_input_fn",
    "pandas_input_fn",
    "queue_parsed_features",
    "read_batch_examples",
    "read_batch_features",
    "read_batch_record_features",
    "read_keyed_batch_examples",
    "read_keyed_batch_examples_shared_queue",
    "read_keyed_batch_features",
    "read_keyed_batch_features_shared_queue",
]
