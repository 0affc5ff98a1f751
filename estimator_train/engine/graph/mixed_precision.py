"""Mixed precision: products and convolutions of training in 16 bits, variables in 32.

TensorFlow's graph optimizer adds casts to operations by its own lists, in every model, in loops and
outside them. bfloat16 works on CPUs (with oneDNN), float16 on GPUs. (The float16 pass for CPUs
crashes on CPUs without float16 arithmetic.) float16 has a small range, so the loss is scaled.
"""

import tensorflow as tf

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
