"""Copies and writes of large variables, few at a time, so that few are in memory twice.

A read of a variable with sparse updates, such as an embedding, is a copy. TensorFlow's Saver reads
all variables at once, and so takes as much memory again as all tables.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import tensorflow as tf

from estimator_train.engine.tf_internals import graphs, sessions
from estimator_train.engine.tf_internals.tensor_sizes import count_bytes, divide

_WRITES = "SaveV2"
_FIRST_VALUE = 3  # A SaveV2 operation has the inputs prefix, names and slices, then the values.
# Smaller values are read and written together.
_LARGE_BYTES = 16 * 2**20
_WRITES_AT_ONCE = 2
# Those that the operation DeepCopy has a kernel for; a session copies values of all others itself.
_COPIED_TYPES = frozenset(
    [tf.float16, tf.float32, tf.float64, tf.bfloat16]
    + [tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64]
)

# Names, slices and values.
_Part: TypeAlias = list[tuple[bytes, bytes, tf.Tensor]]


def find_written_values(save: tf.Operation) -> list[tf.Tensor]:
    """Returns all tensors that the operation `save` writes, without constants."""
    values: dict[str, tf.Tensor] = {}
    for operation in _find_writes(save):
        written = operation.inputs[_FIRST_VALUE:]
        values.update((value.name, value) for value in written if value.op.type != "Const")
    return list(values.values())


def copy_values(values: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Adds copies of values to the default graph; large ones are read one after another.

    A session copies a fetched tensor that the graph holds in one thread, much slower.
    """
    copies: list[tf.Tensor] = []
    before: list[tf.Operation] = []
    with tf.name_scope("checkpoint_copies"):
        for value in values:
            is_large = count_bytes(value) >= _LARGE_BYTES
            with tf.control_dependencies(before if is_large else []):
                copies.append(_copy(_read_again(value) if is_large else value))
            if is_large:
                before = [copies[-1].op]
    return copies


def write_parts(saver_def: tf.compat.v1.train.SaverDef) -> tf.Tensor:
    """Adds operations to the default graph that write a Saver's values part by part.

    Each part is one of the data files of the checkpoint.

    Args:
      saver_def: The definition of the Saver.

    Returns:
      The prefix of the checkpoint, available when all parts are written.
    """
    graph = tf.compat.v1.get_default_graph()
    prefix = graph.as_graph_element(saver_def.filename_tensor_name)
    save = graph.as_graph_element(saver_def.save_tensor_name).op
    parts = [part for write in _find_writes(save) for part in _divide(write)]
    with tf.name_scope("checkpoint_parts"):
        return _write_few_at_once(prefix, parts)


class SubstituteSession(sessions.SessionInterface):
    """Session for a Saver in which some tensors have other values or are replaced by others.

    Args:
      session: A raw session.
      values: Values of tensors.
      fetches: Tensors to fetch in place of others, by the names of those.
    """

    def __init__(
        self,
        session: tf.compat.v1.Session,
        values: Mapping[tf.Tensor, Any],
        fetches: Mapping[str, tf.Tensor] = MappingProxyType({}),
    ) -> None:
        self._session = session
        self._values = {tensor.name: value for tensor, value in values.items()}
        self._fetches = fetches

    @property
    def graph(self) -> tf.Graph:
        """The session's graph."""
        return self._session.graph

    def run(self, fetches: Any, feed_dict: Any = None) -> Any:
        """Runs the fetches on the values."""
        if isinstance(fetches, str):
            fetches = self._fetches.get(fetches, fetches)
        return self._session.run(fetches, {**self._values, **(feed_dict or {})})


def _find_writes(save: tf.Operation) -> Iterator[tf.Operation]:
    """Yields the operations that write variables for the operation `save`."""

    def before(operation: tf.Operation) -> list[tf.Operation]:
        return [] if operation.type == _WRITES else graphs.list_operations_before(operation)

    return (found for found in graphs.walk([save], before) if found.type == _WRITES)


def _write_few_at_once(prefix: tf.Tensor, parts: Sequence[_Part]) -> tf.Tensor:
    """Returns the prefix of a checkpoint, available when all of its parts are written."""
    prefixes: list[tf.Tensor] = []
    writes: list[tf.Operation] = []
    for number, part in enumerate(parts):
        name = f"_temp/part-{number:05d}-of-{len(parts):05d}"
        before = [writes[number - _WRITES_AT_ONCE]] if number >= _WRITES_AT_ONCE else []
        with tf.control_dependencies(before):
            values = [_read_again(value) for _, _, value in part]
            prefixes.append(tf.strings.join([prefix, name]))
            names, slices = [list(column) for column in zip(*part, strict=True)][:2]
            writes.append(
                tf.raw_ops.SaveV2(
                    prefix=prefixes[-1], tensor_names=names, shape_and_slices=slices, tensors=values
                )
            )
    with tf.control_dependencies(writes):
        merged = tf.raw_ops.MergeV2Checkpoints(
            checkpoint_prefixes=tf.stack(prefixes), destination_prefix=prefix
        )
    with tf.control_dependencies([merged]):
        return tf.identity(prefix)


def _divide(write: tf.Operation) -> list[_Part]:
    """Returns names, slices and values of an operation in parts of at least `_LARGE_BYTES`."""
    names, slices = map(tf.get_static_value, write.inputs[1:_FIRST_VALUE])
    values = write.inputs[_FIRST_VALUE:]
    return divide(zip(names, slices, values, strict=True), values, _LARGE_BYTES)


def _read_again(value: tf.Tensor) -> tf.Tensor:
    """Returns another read of a variable, which obeys the control dependencies of the context."""
    read = value.op
    while read.type == "Identity":
        read = read.inputs[0].op
    if read.type != "ReadVariableOp":
        return value
    with tf.device(read.device):
        return tf.raw_ops.ReadVariableOp(resource=read.inputs[0], dtype=value.dtype)


def _copy(value: tf.Tensor) -> tf.Tensor:
    return tf.raw_ops.DeepCopy(x=value) if value.dtype in _COPIED_TYPES else value
