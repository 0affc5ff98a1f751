"""Stand-in for `tf.contrib.learn.utils`: input functions and strategies of exports."""

import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from tf_contrib._types import Features
from tf_contrib.learn.export_strategies import (  # noqa: F401
    ExportStrategy,
    garbage_collect_exports,
    get_most_recent_export,
    get_temp_export_dir,
    get_timestamped_export_dir,
    make_best_model_export_strategy,
    make_export_strategy,
    make_parsing_export_strategy,
)

# Programs import both modules by the paths that they had in tf.contrib.
input_fn_utils = saved_model_export_utils = sys.modules[__name__]


class InputFnOps(NamedTuple):
    """Result of a serving_input_fn: features, labels, and the tensors of a request."""

    features: Any
    labels: Any
    default_inputs: Any

    @property
    def receiver_tensors(self) -> Any:
        """The tensors of a request, as those of a ServingInputReceiver."""
        return self.default_inputs


def build_parsing_serving_input_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """Returns a serving_input_fn that parses serialized tf.Examples.

    Args:
      feature_spec: See `tf.io.parse_example`.
      default_batch_size: Number of examples in a request; None: any number.
    """

    def read_examples() -> InputFnOps:
        examples = tf.compat.v1.placeholder(
            tf.string, [default_batch_size], name="input_example_tensor"
        )
        features = tf.io.parse_example(examples, feature_spec)
        return InputFnOps(features, None, {"examples": examples})

    return read_examples


def build_default_serving_input_fn(
    features: Mapping[str, tf.Tensor], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """Returns a serving_input_fn that takes the features themselves.

    Args:
      features: Tensors whose types, and shapes after the first dimension, the features have.
      default_batch_size: Number of examples in a request; None: any number.
    """

    def read_features() -> InputFnOps:
        read: Features = {
            name: tf.compat.v1.placeholder(
                tensor.dtype, [default_batch_size, *tensor.shape[1:]], name=tensor.op.name
            )
            for name, tensor in features.items()
        }
        return InputFnOps(read, None, read)

    return read_features
