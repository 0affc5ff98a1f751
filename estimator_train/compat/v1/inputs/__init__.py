"""The names of `tf.compat.v1.estimator.inputs`: input_fns of arrays and frames that feed queues."""

from estimator_train.compat.v1.inputs.numpy_io import numpy_input_fn
from estimator_train.compat.v1.inputs.pandas_io import pandas_input_fn

__all__ = ["numpy_input_fn", "pandas_input_fn"]
