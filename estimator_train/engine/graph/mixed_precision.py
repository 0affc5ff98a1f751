"""Mixed precision: products and convolutions of training in 16 bits, variables in 32.

TensorFlow's graph optimizer puts the casts in, after its own lists of operations: whatever model it
is, in loops as well as outside them. For bfloat16 that works on CPUs (with oneDNN), for float16 on
GPUs. (Its float16 pass for CPUs brings the process down on those without float16 arithmetic.)
float16 has a small range, so gradients are kept in it by a scale on the loss.
"""

import contextlib
from collections.abc import Iterator

import tensorflow as tf

from estimator_train.engine.graph.loss_scale import ScaledOptimizers

_LOG = tf.get_logger()


def cast_in(config: tf.compat.v1.ConfigProto, precision: str) -> None:
    """Has a session's graph optimizer put in casts.

    Args:
      config: The session's configuration.
      precision: "bfloat16" or "float16".
    """
    rewrites = config.graph_options.rewrite_options
    on_gpus = bool(tf.config.list_physical_devices("GPU"))
    if precision == "float16" and on_gpus:
        rewrites.auto_mixed_precision = rewrites.ON
    elif precision == "bfloat16" and not on_gpus:
        rewrites.auto_mixed_precision_onednn_bfloat16 = rewrites.ON
    else:
        place = "a GPU" if on_gpus else "a CPU"
        _LOG.warning("On %s training computes in float32, not in %s.", place, precision)


@contextlib.contextmanager
def scaled_losses(precision: str) -> Iterator[None]:
    """Within it, optimizers of tf.compat.v1 scale their losses where the precision needs it.

    Args:
      precision: "bfloat16" or "float16". Only "float16" needs it.
    """
    if precision != "float16":
        yield
        return
    with ScaledOptimizers() as optimizers:
        yield
    if not optimizers.used:
        _LOG.warning(
            "mixed_precision='float16' scales the losses of optimizers of tf.compat.v1.train, and "
            "the model has none: a Keras optimizer should be in a "
            "tf_keras.mixed_precision.LossScaleOptimizer."
        )
