"""The ConfigProto of sessions: the defaults of an Estimator, with the user's settings merged in."""

import os
from collections.abc import Iterable

import tensorflow as tf

from estimator_train.run_config.cpu_limit import count_usable_threads

_LOG = tf.get_logger()
# Above the CPUs, more threads for the work within an operation gain nothing.
_MAX_INTRA_OP_THREADS = max(64, os.cpu_count() or 1)


def make_default_session_config(device_filters: Iterable[str] = ()) -> tf.compat.v1.ConfigProto:
    """Returns the session settings of an Estimator whose RunConfig has no session_config.

    Args:
      device_filters: The devices that the session may see, as "/job:ps"; all by default.

    Returns:
      Soft placement, and one pass of the graph optimizer instead of two.
    """
    config = tf.compat.v1.ConfigProto(
        allow_soft_placement=True, device_filters=list(device_filters)
    )
    rewrites = config.graph_options.rewrite_options
    rewrites.meta_optimizer_iterations = rewrites.ONE
    return config


def merge_session_config(
    own: tf.compat.v1.ConfigProto | None, device_filters: Iterable[str] = ()
) -> tf.compat.v1.ConfigProto:
    """Returns the default session settings, overridden by those of the user.

    Args:
      own: The user's settings. A field with its default value (False, 0, empty) counts as not set.
        None: no settings.
      device_filters: The devices that the session may see if `own` has no device filters.
    """
    if own is None:
        return make_default_session_config(device_filters)
    config = make_default_session_config(() if own.device_filters else device_filters)
    config.MergeFrom(own)
    return config


def limit_threads(config: tf.compat.v1.ConfigProto) -> tf.compat.v1.ConfigProto:
    """Returns a copy whose thread pools of unset size fit the CPU limit of the container.

    The pool for the work within an operation has at most 64 threads, or as many as there are CPUs:
    each restore operation of TensorFlow 2.21 starts as many threads of its own, and
    `init_from_checkpoint` has one for each variable. With 1024, the process would abort.

    Args:
      config: The settings of a session that runs in this process.
    """
    fitted = tf.compat.v1.ConfigProto()
    fitted.CopyFrom(config)
    if config.intra_op_parallelism_threads > _MAX_INTRA_OP_THREADS:
        _LOG.info(
            "Sessions use %d threads within an operation; session_config asks for %d, and "
            "TensorFlow would start that many for each variable that it restores.",
            _MAX_INTRA_OP_THREADS,
            config.intra_op_parallelism_threads,
        )
        fitted.intra_op_parallelism_threads = _MAX_INTRA_OP_THREADS
    threads = count_usable_threads()
    if threads is not None:
        for pool in ("intra_op_parallelism_threads", "inter_op_parallelism_threads"):
            setattr(fitted, pool, getattr(fitted, pool) or threads)
    return fitted
