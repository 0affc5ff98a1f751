"""The ConfigProto of sessions: an Estimator's defaults, and a user's settings over them."""

from collections.abc import Iterable

import tensorflow as tf

from estimator_train.run_config.cpu_limit import threads_that_fit


def default_session_config(device_filters: Iterable[str] = ()) -> tf.compat.v1.ConfigProto:
    """The session settings of an Estimator whose RunConfig has none.

    Args:
      device_filters: The devices the session may see, as "/job:ps"; all by default.

    Returns:
      Soft placement, and one pass of the graph optimizer instead of two.
    """
    config = tf.compat.v1.ConfigProto(
        allow_soft_placement=True, device_filters=list(device_filters)
    )
    rewrites = config.graph_options.rewrite_options
    rewrites.meta_optimizer_iterations = rewrites.ONE
    return config


def merged_session_config(
    own: tf.compat.v1.ConfigProto | None, device_filters: Iterable[str] = ()
) -> tf.compat.v1.ConfigProto:
    """A user's session settings over our defaults.

    Args:
      own: The user's, whose fields take precedence. A field with its default value (False, 0,
        empty) cannot be told from one that is not set. None: nothing is set.
      device_filters: The devices the session may see if `own` does not say.
    """
    if own is None:
        return default_session_config(device_filters)
    config = default_session_config(() if own.device_filters else device_filters)
    config.MergeFrom(own)
    return config


def with_threads_that_fit(config: tf.compat.v1.ConfigProto) -> tf.compat.v1.ConfigProto:
    """A copy whose thread pools without a size have the one that a container's limit leaves them.

    Args:
      config: The configuration of a session that runs in this process.
    """
    fitted = tf.compat.v1.ConfigProto()
    fitted.CopyFrom(config)
    threads = threads_that_fit()
    if threads is not None:
        for pool in ("intra_op_parallelism_threads", "inter_op_parallelism_threads"):
            setattr(fitted, pool, getattr(fitted, pool) or threads)
    return fitted
