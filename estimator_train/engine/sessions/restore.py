"""First values of variables: restored from a checkpoint that fits the model, or filled.

Errors and warnings of a restore name the variables that do not fit.

A session expands a constant before it runs it, in one thread, and keeps it until the session is
closed: as much memory again as the slots of an optimizer. So large slots are filled.
"""

import contextlib
import os
from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from estimator_train.engine import keras_3_errors
from estimator_train.engine.tf_internals import graphs, saver_entries
from estimator_train.engine.tf_internals.constants import count_bytes

_LOG = tf.get_logger()
_MAX_NAMES = 10
_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_OF_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
_OTHER_FORMAT = (
    " The checkpoint is object-based and the model restores variables by their names: a Keras "
    'model that wrote it has checkpoint_format="checkpoint".'
)
_OF_KERAS_3 = (
    " The model is one of Keras 3. If its tf_keras form wrote the checkpoint, load the weights by "
    "keras.load_trained(model, checkpoint), and train the model in another model_dir."
)
_MISMATCH = (
    "Restoring from checkpoint failed. This is most likely due to a mismatch between the current "
    "graph and the graph from the checkpoint."
)
# State of the process: directories and mismatches there that were logged.
_warned: set[tuple[str, ...]] = set()
_LARGE_BYTES = 2**20


class CheckpointMismatchError(tf.errors.InvalidArgumentError, ValueError):
    """Error for a variable whose shapes in the checkpoint and in the model differ."""


@contextlib.contextmanager
def prepare_restore(checkpoint_path: str | None, by_name: bool = True) -> Iterator[None]:
    """Prepares a restore in the context; names the variables if the checkpoint does not fit.

    The default graph gets the Saver that a Scaffold without one uses, which reads a large
    checkpoint by several operations, or an object-based one by its places.

    A restore gives a resource variable the shape in the checkpoint without a message. Programs of
    tf.estimator may depend on that, so this function only warns, once for each mismatch. Reference
    variables, those of TensorFlow 1, cannot change their shape.

    Args:
      checkpoint_path: The checkpoint that is restored, or None.
      by_name: Whether the saver restores variables by their names. The saver of a user's Scaffold
        may use other names, so that shapes cannot be compared.

    Raises:
      CheckpointMismatchError: A reference variable of the default graph has another shape in the
        checkpoint.
      NotFoundError: A variable of the default graph is not in the checkpoint.
    """
    graph = tf.compat.v1.get_default_graph()
    saved = _read_saved_shapes(checkpoint_path)
    mismatched = _find_mismatched(graph, saved) if by_name else {}
    if mismatched:
        mismatches = [
            f"'{name}' has shape {saved[name]} in it and {variable.shape.as_list()} in the model"
            for name, variable in mismatched.items()
        ] + _describe_absent(graph, saved, by_name)
        advice = _make_advice(checkpoint_path, mismatches)
        if any(variable.op.type != "VarHandleOp" for variable in mismatched.values()):
            raise CheckpointMismatchError(None, None, f"{_MISMATCH}\n\n{advice}")
        key = os.path.dirname(str(checkpoint_path)), *mismatches
        if key not in _warned:
            _warned.add(key)
            _LOG.warning(
                "%s The variables take the shapes in the checkpoint, as under tf.estimator.", advice
            )
    if checkpoint_path and by_name:
        saver = _find_default_saver(graph)
        if _OBJECT_GRAPH in saved:
            saver_entries.prepare_restore_by_places(saver, checkpoint_path)
    try:
        yield
    except tf.errors.NotFoundError as error:
        absent = _describe_absent(graph, saved, by_name)
        if not absent:
            raise
        more = _OTHER_FORMAT if by_name and _OBJECT_GRAPH in saved else ""
        more = _OF_KERAS_3 if keras_3_errors.is_allowed(graph) else more
        message = f"{_make_advice(checkpoint_path, absent)}{more}\n{error.message}"
        raise type(error)(error.node_def, error.op, message) from error


def _find_default_saver(graph: tf.Graph) -> tf.compat.v1.train.Saver:
    """Returns the Saver that a Scaffold without one uses; creates it if the graph has no Saver."""
    savers = graph.get_collection_ref(tf.compat.v1.GraphKeys.SAVERS)
    if not savers:
        savers.append(
            tf.compat.v1.train.Saver(
                sharded=True,
                builder=saver_entries.RestoreByParts(),
                allow_empty=True,
                defer_build=True,
            )
        )
    return savers[0]


def _make_advice(checkpoint_path: str | None, mismatches: list[str]) -> str:
    shown = "; ".join(mismatches[:_MAX_NAMES])
    more = f"; and {len(mismatches) - _MAX_NAMES} more" if len(mismatches) > _MAX_NAMES else ""
    return (
        f"The checkpoint {checkpoint_path} does not fit the model: {shown}{more}. Use the model "
        "that wrote it, another model_dir, or warm_start_from to take over the variables that fit."
    )


def _read_saved_shapes(checkpoint_path: str | None) -> dict[str, list[int]]:
    """Returns shapes by variable name; none if there is no checkpoint or it cannot be read.

    The restore itself raises the error for a checkpoint that cannot be read.
    """
    if checkpoint_path is None:
        return {}
    try:
        return dict(tf.train.list_variables(checkpoint_path))
    except (tf.errors.OpError, ValueError):
        return {}


def _list_variables(graph: tf.Graph) -> dict[str, tf.Variable]:
    """Returns the global variables by name, without slices of partitioned ones.

    The name is not that of `variable.op`, which is an operation that sums replicas for a variable
    that each replica updates alone; a finalized graph cannot add it.
    """
    with graph.as_default():
        found = tf.compat.v1.global_variables()
    return {
        v.name.rpartition(":")[0]: v
        for v in found
        if isinstance(v, tf.Variable) and not getattr(v, "_save_slice_info", None)
    }


def _find_mismatched(graph: tf.Graph, saved: dict[str, list[int]]) -> dict[str, tf.Variable]:
    return {
        name: variable
        for name, variable in _list_variables(graph).items()
        if name in saved and not variable.shape.is_compatible_with(saved[name])
    }


def _describe_absent(graph: tf.Graph, saved: dict[str, list[int]], by_name: bool) -> list[str]:
    if not saved:
        return []
    wanted = _list_variables(graph) if by_name else _list_restored_keys(graph)
    return [f"'{key.removesuffix(_OF_VALUE)}' is not in it" for key in wanted if key not in saved]


def _list_restored_keys(graph: tf.Graph) -> list[str]:
    """Returns the keys that the Savers of a graph read, for Savers with keys of their own."""
    keys: dict[str, None] = {}
    for operation in graph.get_operations():
        if operation.type == "RestoreV2":
            names = tf.get_static_value(operation.inputs[1])
            keys.update(dict.fromkeys([] if names is None else map(tf.compat.as_str, names)))
    return list(keys)


def fill_variables(scaffold: tf.compat.v1.train.Scaffold) -> tf.compat.v1.train.Scaffold:
    """Returns a Scaffold that initializes the same variables to the same values.

    Args:
      scaffold: The model's finalized Scaffold.

    Returns:
      A copy whose `init_op` fills large variables that `scaffold.init_op` assigns a constant of
      equal numbers; `scaffold` itself without such variables.
    """
    if not isinstance(scaffold.init_op, tf.Operation):
        return scaffold
    initializers = graphs.list_grouped(scaffold.init_op)
    fed = {getattr(key, "name", key) for key in scaffold.init_feed_dict or {}}
    numbers = {initializer: _find_number(initializer, fed) for initializer in initializers}
    if all(number is None for number in numbers.values()):
        return scaffold
    graph = scaffold.init_op.graph
    with graphs.reopen_for_context(graph), graph.as_default(), tf.name_scope("initial_fills"):
        init_op = [
            initializer if number is None else _fill(initializer, number)
            for initializer, number in numbers.items()
        ]
    return tf.compat.v1.train.Scaffold(init_op=init_op, copy_from_scaffold=scaffold)


def _find_number(initializer: tf.Operation, fed: set[str]) -> np.generic | None:
    """Returns the number that all elements of a large variable get; None if they get others.

    Args:
      initializer: An operation that initializes.
      fed: Names of tensors whose values the caller of `init_op` feeds.
    """
    if initializer.type != "AssignVariableOp" or initializer.control_inputs:
        return None
    value = initializer.inputs[1]
    if value.op.type != "Const" or value.name in fed:
        return None
    if count_bytes(value) < _LARGE_BYTES:
        return None
    proto = value.op.get_attr("value")
    # A constant of equal numbers has one, in the field of its dtype.
    numbers = [content for field, content in proto.ListFields() if field.name.endswith("_val")]
    if proto.tensor_content or [len(content) for content in numbers] != [1]:
        return None
    proto.tensor_shape.Clear()
    return tf.make_ndarray(proto)[()]


def _fill(initializer: tf.Operation, number: np.generic) -> tf.Operation:
    """Adds an operation that fills the variable of an initializer."""
    resource, value = initializer.inputs
    with tf.device(initializer.device):
        filled = tf.fill(value.shape, tf.constant(number, value.dtype))
        return tf.raw_ops.AssignVariableOp(resource=resource, value=filled)
