"""Changes of a graph that exists: inputs and control inputs of operations, a final graph."""

import contextlib
from collections.abc import Collection, Iterator

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


def run_after(operation: tf.Operation, before: tf.Operation) -> None:
    """Makes an existing operation run after another one.

    Why internal: no public API adds a control input to an existing operation.
    """
    operation._add_control_input(before)


def is_in_control_flow(operation: tf.Operation) -> bool:
    """Returns whether an operation runs only in a branch or loop of TensorFlow 1.

    Why internal: no public API tells the branch of an operation. Others must not wait for it.
    """
    return operation._get_control_flow_context() is not None


def replace_input(operation: tf.Operation, old: tf.Tensor, new: tf.Tensor) -> None:
    """Makes an existing operation take another tensor wherever it takes `old`."""
    for index, tensor in enumerate(operation.inputs):
        if tensor.name == old.name:
            set_input(operation, index, new)


def has_dependents(operation: tf.Operation) -> bool:
    """Returns whether another operation needs the result or the end of an operation.

    Why internal: the operations that wait for an operation's end have no public name.
    """
    return bool(operation.outputs[0].consumers() or operation._control_outputs)


def reopen(graph: tf.Graph) -> None:
    """Lets operations be added to a graph that creating its session finalized.

    Why internal: a Scaffold finalizes the graph for good; a kept model takes a new input for each
    call, and the session sees added operations.
    """
    graph._unsafe_unfinalize()


@contextlib.contextmanager
def reopen_for_context(graph: tf.Graph) -> Iterator[None]:
    """Allows operations to be added to a finalized graph in the context.

    Why internal: see `reopen`.
    """
    was_final = graph.finalized
    reopen(graph)
    try:
        yield
    finally:
        if was_final:
            graph.finalize()
