"""AutoGraph on replicas: a user's functions are converted there, and `if tensor:` works in them.

So it was in tf.estimator, and nowhere else: what is called without replicas stays as it is.
"""

import contextvars
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals

# TensorFlow would convert each function between its own and the user's: hundreds of this package,
# at most of the time that it takes to make a graph.
tf_internals.never_convert("estimator_train")

_on_replica = contextvars.ContextVar("on_replica", default=False)
# These call what they are given, where the others first have it converted.
_WITHOUT_REPLICAS = (tf.distribute.OneDeviceStrategy, tf.compat.v1.distribute.OneDeviceStrategy)


def as_replica(fn: Callable[..., Any], strategy: Any) -> Callable[..., Any]:
    """Returns `fn`, which each replica of a strategy calls, as one that tells `user_function`."""
    if isinstance(strategy, _WITHOUT_REPLICAS):
        return fn

    def replica(*args: Any, **kwargs: Any) -> Any:
        token = _on_replica.set(True)
        try:
            return fn(*args, **kwargs)
        finally:
            _on_replica.reset(token)

    return replica


def user_function(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a user's function as it is to be called: converted if a replica calls it.

    Args:
      fn: Any callable. One of `tf.autograph.experimental.do_not_convert` stays as it is.
    """
    if not _on_replica.get():
        return fn
    status = tf.__internal__.autograph.control_status_ctx()
    return tf.__internal__.autograph.tf_convert(fn, status)
