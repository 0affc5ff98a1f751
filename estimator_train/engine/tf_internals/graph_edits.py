"""Changes of operations that exist: their inputs and control inputs."""

from collections.abc import Collection

import tensorflow as tf


def set_input(operation: tf.Operation, index: int, tensor: tf.Tensor) -> None:
    """Makes an existing operation take another tensor as its input `index`.

    Why internal: no public API changes the inputs of an existing operation.
    """
    operation._update_input(index, tensor)


def drop_control_inputs(operation: tf.Operation, removed: Collection[tf.Operation]) -> None:
    """Makes an existing operation no longer wait for others.

    Why internal: no public API removes a control input from an existing operation.
    """
    kept = [before for before in operation.control_inputs if before not in removed]
    operation._remove_all_control_inputs()
    operation._add_control_inputs(kept)
