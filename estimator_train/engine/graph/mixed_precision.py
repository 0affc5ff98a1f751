"""Mixed precision: products and convolutions of training in 16 bits, variables in 32.

TensorFlow's graph optimizer adds casts to operations by its own lists, in every model, in loops and
outside them. bfloat16 works on CPUs (with oneDNN), float16 on GPUs. (The float16 pass for CPUs
crashes on CPUs without float16 arithmetic.) float16 has a small range, so the loss is scaled.
"""

import contextlib
from collections.abc import Iterator

import tensorflow as tf

from estimator_train.engine.graph.loss_scale import scale_optimizers

_LOG = tf.get_logger()


def enable_casts(config: tf.compat.v1.ConfigProto, precision: str) -> None:
    """Makes a session's graph optimizer add casts to the graph.

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
def scale_losses(precision: str) -> Iterator[None]:
    """Makes optimizers of tf.compat.v1 scale their losses inside this context.

    Args:
      precision: "bfloat16" or "float16". Only "float16" needs a scale.
    """
    if precision != "float16":
        yield
        return
    with scale_optimizers() as scales:
        yield
    if not scales:
        _LOG.warning(
            "mixed_precision='float16' scales the losses of optimizers of tf.compat.v1.train, and "
            "the model has none of these: wrap a Keras optimizer in a "
            "tf_keras.mixed_precision.LossScaleOptimizer."
        )
