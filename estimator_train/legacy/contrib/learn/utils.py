"""Stand-in for `tf.contrib.learn.utils`: input functions and strategies of exports."""

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import tensorflow as tf

import estimator_train as est
from estimator_train.legacy.contrib._types import Features
from estimator_train.legacy.contrib.learn.export_strategies import (  # noqa: F401
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


class _ExportFields(NamedTuple):
    name: Any
    export_fn: Callable[..., Any]
    strip_default_attrs: bool | None = None


class ExportStrategy(_ExportFields, est.Exporter):
    """Export of an Experiment by a function.

    Args:
      name: Name of its directory below `model_dir/export`.
      export_fn: Function of an estimator and a path; called with those of `checkpoint_path`,
        `eval_result` and `strip_default_attrs` that it has as arguments.
      strip_default_attrs: Value of that argument.
    """

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str | None = None,
        eval_result: Mapping[str, Any] | None = None,
        is_the_final_export: bool = True,
    ) -> Any:
        """Calls export_fn and returns its result."""
        available = {
            "checkpoint_path": checkpoint_path,
            "eval_result": eval_result,
            "strip_default_attrs": self.strip_default_attrs,
        }
        accepted = inspect.signature(self.export_fn).parameters
        named = {name: value for name, value in available.items() if name in accepted}
        return self.export_fn(estimator, export_path, **named)


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
