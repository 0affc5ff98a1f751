"""Stand-in for `tf.contrib.slim`: layers, arg_scope, losses, variables, nets and readers."""

import tensorflow as tf

from estimator_train.legacy.contrib import (
    layers as layers,
    losses as losses,
    metrics as metrics,
    nets as nets,
)
from estimator_train.legacy.contrib.framework import (
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    assign_from_values,
    assign_from_values_fn,
    filter_variables,
    get_local_variables,
    get_model_variables,
    get_or_create_global_step,
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
from estimator_train.legacy.contrib.framework.arg_scope import (
    add_arg_scope,
    arg_scope,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)
from estimator_train.legacy.contrib.layers import *  # noqa: F403
from estimator_train.legacy.contrib.layers import (
    initializers as initializers,
    regularizers as regularizers,
    utils as utils,
)
from estimator_train.legacy.contrib.slim import (
    data_decoder as data_decoder,
    dataset as dataset,
    dataset_data_provider as dataset_data_provider,
    evaluation as evaluation,
    learning as learning,
    parallel_reader as parallel_reader,
    prefetch_queue as prefetch_queue,
    queues as queues,
    tfexample_decoder as tfexample_decoder,
)

get_global_step = tf.compat.v1.train.get_global_step
__all__ = [
    "add_arg_scope",
    "arg_scope",
    "arg_scoped_arguments",
    "assign_from_checkpoint",
    "assign_from_checkpoint_fn",
    "assign_from_values",
    "assign_from_values_fn",
    "current_arg_scope",
    "data_decoder",
    "dataset",
    "dataset_data_provider",
    "evaluation",
    "filter_variables",
    "get_local_variables",
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
    "initializers",
    "layers",
    "learning",
    "losses",
    "metrics",
    "regularizers",
    "model_variable",
    "nets",
    "parallel_reader",
    "prefetch_queue",
    "queues",
    "tfexample_decoder",
    "utils",
    "variable",
]
