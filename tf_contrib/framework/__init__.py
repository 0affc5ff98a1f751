"""Stand-in for `tf.contrib.framework`: variables by name, checkpoints, arg_scope."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tf_contrib.framework import nest
from tf_contrib.framework.arg_scope import (
    add_arg_scope,
    arg_scope,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)
from tf_contrib.framework.assigning import (
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    assign_from_values,
    assign_from_values_fn,
)
from tf_contrib.framework.orthogonal import (
    ConvolutionalOrthogonal1D,
    ConvolutionalOrthogonal2D,
    ConvolutionalOrthogonal3D,
)
from tf_contrib.framework.shapes import (
    assert_or_get_global_step,
    assert_scalar_int,
    get_graph_from_inputs,
    get_placeholders,
    py_func,
    reduce_sum_n,
    remove_squeezable_dimensions,
    with_same_shape,
    with_shape,
)
from tf_contrib.framework.variables import (
    add_model_variable,
    filter_variables,
    get_local_variables,
    get_model_variables,
    get_trainable_variables,
    get_unique_variable,
    get_variable_full_name,
    get_variables,
    get_variables_by_name,
    get_variables_by_suffix,
    get_variables_to_restore,
    global_variable,
    local_variable,
    model_variable,
    variable,
)

_v1 = tf.compat.v1
__all__ = [
    "add_arg_scope",
    "add_model_variable",
    "arg_scope",
    "arg_scoped_arguments",
    "assert_global_step",
    "assert_or_get_global_step",
    "assert_scalar_int",
    "assign_from_checkpoint",
    "assign_from_checkpoint_fn",
    "assign_from_values",
    "assign_from_values_fn",
    "current_arg_scope",
    "filter_variables",
    "get_graph_from_inputs",
    "get_local_variables",
    "get_placeholders",
    "get_model_variables",
    "get_or_create_global_step",
    "get_trainable_variables",
    "get_unique_variable",
    "get_variable_full_name",
    "get_variables",
    "get_variables_by_name",
    "get_variables_by_suffix",
    "get_variables_to_restore",
    "global_variable",
    "has_arg_scope",
    "local_variable",
    "nest",
    "py_func",
    "reduce_sum_n",
    "remove_squeezable_dimensions",
    "model_variable",
    "variable",
    "with_same_shape",
    "with_shape",
]

assert_global_step = _v1.train.assert_global_step
create_global_step = _v1.train.create_global_step
get_global_step = _v1.train.get_global_step
get_or_create_global_step = _v1.train.get_or_create_global_step
init_from_checkpoint = _v1.train.init_from_checkpoint
list_variables = tf.train.list_variables
load_checkpoint = tf.train.load_checkpoint
load_variable = tf.train.load_variable
assert_same_float_dtype = tf.debugging.assert_same_float_dtype
assert_scalar = tf.debugging.assert_scalar
is_tensor = tf.is_tensor
sort = tf.sort
argsort = tf.argsort
CriticalSection = tf.CriticalSection
zero_initializer = _v1.zeros_initializer
convolutional_orthogonal_1d = ConvolutionalOrthogonal1D
convolutional_orthogonal_2d = ConvolutionalOrthogonal2D
convolutional_orthogonal_3d = ConvolutionalOrthogonal3D


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[[Any], Any]:
    """Returns a decorator that leaves a deprecated function unchanged; its calls log no warning.

    Args:
      date: Day of removal, "YYYY-MM-DD", or None if it is not known.
      instructions: Replacement that users of the function should choose.
      warn_once: Unused.
    """
    del date, instructions, warn_once
    return lambda function: function


def deprecated_args(date: str | None, instructions: str, *names: Any, **options: Any) -> Any:
    """Returns a decorator that leaves a function with deprecated arguments unchanged."""
    del names, options
    return deprecated(date, instructions)


def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **deprecated_kwargs: Any
) -> Callable[[Any], Any]:
    """Returns a decorator that leaves a function with deprecated values unchanged."""
    del deprecated_kwargs
    return deprecated(date, instructions, warn_once)


def get_name_scope() -> str:
    """Returns the current name scope of the default graph."""
    return _v1.get_default_graph().get_name_scope()
