"""Time of a synchronous worker for its own part of a step, without its waits for other workers.

All workers need the same time for a step, since its collectives wait for the slowest. A worker that
is slow has its gradients later than the others.
"""

import tensorflow as tf

from estimator_train.engine.tf_internals import graphs


def build_local_secs(train_op: tf.Operation | tf.Tensor) -> tf.Tensor | None:
    """Builds the seconds from the start of a step until this worker begins to wait for others.

    Args:
      train_op: The operation or tensor of the step.

    Returns:
      A float64 scalar that hooks fetch with a step; None if the step has no collectives.
    """
    of_step = graphs.walk([getattr(train_op, "op", train_op)])
    collectives = [operation for operation in of_step if _is_reduction(operation)]
    # Their results are there only after a wait, and so is all that needs them.
    after_waits = set(graphs.walk(collectives, _find_operations_after))
    inputs = {tensor.op for collective in collectives for tensor in collective.inputs}
    own = sorted(inputs - after_waits, key=lambda operation: operation.name)
    if not own:
        return None
    start = tf.timestamp(name="step_start")
    with tf.control_dependencies(own):
        return tf.subtract(tf.timestamp(), start, name="own_part_secs")


def _find_operations_after(operation: tf.Operation) -> list[tf.Operation]:
    """Returns the operations that need the results of an operation."""
    return [consumer for tensor in operation.outputs for consumer in tensor.consumers()]


def _is_reduction(operation: tf.Operation) -> bool:
    return operation.type.startswith(("CollectiveReduce", "CollectiveGather"))
