"""Copies and writes of variables: large ones few at a time, so that few are in memory twice.

A read of a variable with sparse updates, such as an embedding, is a copy. TensorFlow's Saver reads
all variables at once, and so takes as much memory again as all tables.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import tensorflow as tf

from estimator_train.engine.tf_internals import graphs, sessions
from estimator_train.engine.tf_internals.constants import count_bytes, divide

_WRITES = "SaveV2"
_FIRST_VALUE = 3  # A SaveV2 operation has the inputs prefix, names and slices, then the values.
# Smaller values are read and written together.
_LARGE_BYTES = 16 * 2**20
_WRITES_AT_ONCE = 2
# An operation copies values of this size and larger ones.
_COPIED_BYTES = 2**16
# Those that the operation DeepCopy has a kernel for; a session copies values of all others itself.
_COPIED_TYPES = frozenset(
    [tf.float16, tf.float32, tf.float64, tf.bfloat16]
    + [tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64]
)
# Operations of Savers that write: they use no state of a session.
_WRITING_TYPES = frozenset(
    ["Const", "Identity", "MergeV2Checkpoints", "NoOp", "Pack", "Placeholder"]
    + ["PlaceholderWithDefault", "SaveV2", "Select", "ShardedFilename"]
    + ["StaticRegexFullMatch", "StringJoin"]
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

    A session copies a fetched tensor that the graph holds in one thread, much slower. Small values
    are therefore fetched themselves: a new operation would have the session place the complete
    graph again.
    """
    copies: list[tf.Tensor] = []
    before: list[tf.Operation] = []
    with tf.name_scope("checkpoint_copies"):
        for value in values:
            is_large = count_bytes(value) >= _LARGE_BYTES
            with tf.control_dependencies(before if is_large else []):
                read = _read_again(value) if is_large else value
                copies.append(read if count_bytes(value) < _COPIED_BYTES else _copy(read))
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


class SeparateWrite:
    """The operations by which a Saver writes copied values, in a graph of their own.

    The session of the model would optimize the complete graph for the call that writes.

    Args:
      save_tensor: The tensor that a Saver fetches to write a checkpoint.
      values: The values that it writes.

    Attributes:
      name: Name of that tensor.
    """

    def __init__(self, save_tensor: tf.Tensor, values: Sequence[tf.Tensor]) -> None:
        self._save, self._values = save_tensor, values
        self.name = save_tensor.name
        self._session: tf.compat.v1.Session | None = None

    @property
    def is_possible(self) -> bool:
        """Whether the operations need nothing of the model except the values."""
        is_output = all(value.value_index == 0 for value in self._values)
        return is_output and {found.type for found in self._find_operations()} <= _WRITING_TYPES

    def run(self, feeds: Mapping[str, Any]) -> Any:
        """Returns the prefix of the checkpoint after it is written.

        Args:
          feeds: The values, and the path prefix, by the names of their tensors.
        """
        if self._session is None:
            self._session = self._open_session()
        # In this thread: a slow store would hold one of the few threads that compute the steps.
        options = tf.compat.v1.RunOptions(inter_op_thread_pool=-1)
        return self._session.run(self.name, dict(feeds), options)

    def _find_operations(self) -> list[tf.Operation]:
        """Returns the operations that write, without those of the values."""
        sources = {value.op for value in self._values}

        def before(operation: tf.Operation) -> list[tf.Operation]:
            found = graphs.list_operations_before(operation)
            return [one for one in found if one not in sources]

        return list(graphs.walk([self._save.op], before))

    def _open_session(self) -> tf.compat.v1.Session:
        definition = tf.compat.v1.GraphDef()
        for value in self._values:
            node = definition.node.add(name=value.op.name, op="Placeholder")
            node.attr["dtype"].type = value.dtype.base_dtype.as_datatype_enum
        for operation in self._find_operations():
            node = definition.node.add()
            node.CopyFrom(operation.node_def)
            node.device = ""  # The graph has no devices of the model.
            node.attr.pop("_class", None)
        with tf.Graph().as_default() as graph:
            tf.graph_util.import_graph_def(definition, name="")
        config = tf.compat.v1.ConfigProto(device_count={"GPU": 0})
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        return tf.compat.v1.Session(graph=graph, config=config)


class SubstituteSession(sessions.SessionInterface):
    """Session for a Saver in which some tensors have other values or are replaced by others.

    Args:
      session: A raw session.
      values: Values of tensors.
      fetches: Tensors to fetch in place of others, by the names of those.
      write: Runs the calls that write the values; None if the session does.
    """

    def __init__(
        self,
        session: tf.compat.v1.Session,
        values: Mapping[tf.Tensor, Any],
        fetches: Mapping[str, tf.Tensor] = MappingProxyType({}),
        write: SeparateWrite | None = None,
    ) -> None:
        self._session = session
        self._write = write
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
        feeds = {**self._values, **(feed_dict or {})}
        if self._write is not None and fetches == self._write.name:
            return self._write.run(feeds)
        return self._session.run(fetches, feeds)


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
