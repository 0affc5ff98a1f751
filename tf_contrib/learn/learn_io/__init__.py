"""Stand-in for `tf.contrib.learn.learn_io`: input of arrays, frames and files of records."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import estimator_train.compat.v1 as v1
from tf_contrib.learn.learn_io.features import (
    queue_parsed_features,
    read_batch_features,
    read_batch_record_features,
    read_keyed_batch_features,
    read_keyed_batch_features_shared_queue,
)
from tf_contrib.learn.learn_io.generator_io import generator_input_fn
from tf_contrib.learn.learn_io.graph_io import (
    read_batch_examples,
    read_keyed_batch_examples,
    read_keyed_batch_examples_shared_queue,
)
from tf_contrib.learn.learn_io.pandas_io import (
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
)


def _shuffle_by_default(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns an input function's maker whose `shuffle` is True unless given."""
    signature = inspect.signature(function)
    parameters = dict(signature.parameters)
    parameters["shuffle"] = parameters["shuffle"].replace(default=True)
    shuffling = signature.replace(parameters=list(parameters.values()))

    @functools.wraps(function)
    def make(*arguments: Any, **named: Any) -> Any:
        bound = shuffling.bind(*arguments, **named)
        bound.apply_defaults()
        return function(**bound.arguments)

    make.__signature__ = shuffling  # type: ignore[attr-defined]
    return make


numpy_input_fn = _shuffle_by_default(v1.inputs.numpy_input_fn)
pandas_input_fn = _shuffle_by_default(v1.inputs.pandas_input_fn)
__all__ = [
    "extract_pandas_data",
    "extract_pandas_labels",
    "extract_pandas_matrix",
    "generator_input_fn",
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
