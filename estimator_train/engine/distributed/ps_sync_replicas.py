"""Synchronous training over parameter servers, with SyncReplicasOptimizer."""

import tensorflow as tf

# The sums of gradients that workers bring are taken from accumulators, in whatever optimizer.
_TAKES_SUMS = "AccumulatorTakeGradient"
_STOP_GRACE_SECS = 120
_GRACE_OF_TAKERS_SECS = 2


def needs_others(graph: tf.Graph) -> bool:
    """Whether a step of this worker needs gradients of others to continue.

    Args:
      graph: The graph of a training.
    """
    return any(operation.type.endswith(_TAKES_SUMS) for operation in graph.get_operations())


def stop_grace_secs(graph: tf.Graph) -> int:
    """Seconds that a session waits for its threads at the end, before it is closed.

    The chief's thread that takes the sums ends only when the session closes: waiting is useless.

    Args:
      graph: The graph of a training.
    """
    return _GRACE_OF_TAKERS_SECS if needs_others(graph) else _STOP_GRACE_SECS
