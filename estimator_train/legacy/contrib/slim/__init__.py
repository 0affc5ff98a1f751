"""`tf.contrib.slim`: layers, arg_scope, losses, variables, nets and readers under one name."""

import tensorflow as tf

from estimator_train.legacy.contrib import (
    framework as _framework,
    layers as layers,
    losses as losses,
    metrics as metrics,
    nets as nets,
)
from estimator_train.legacy.contrib.framework import *  # noqa: F403
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
    parallel_reader as parallel_reader,
    prefetch_queue as prefetch_queue,
    queues as queues,
    tfexample_decoder as tfexample_decoder,
)
from estimator_train.legacy.contrib.training import evaluate_once, learning as learning, train

get_global_step = tf.compat.v1.train.get_global_step
__all__ = [
    *_framework.__all__,
    "data_decoder",
    "dataset",
    "dataset_data_provider",
    "evaluate_once",
    "initializers",
    "layers",
    "learning",
    "losses",
    "metrics",
    "nets",
    "parallel_reader",
    "prefetch_queue",
    "queues",
    "regularizers",
    "tfexample_decoder",
    "train",
    "utils",
]
