"""Savers: object-based checkpoints, entries under any name, and restores by parts."""

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import tensorflow as tf

# Why internal: a Checkpoint alone does not say which variables it reaches (`make_saver_by_places`).
from tensorflow.python.checkpoint.graph_view import ObjectGraphView

# Why internal: a Saver restores object-based checkpoints by it, too late (see
# `prepare_restore_by_places`).
# A Saver also takes its operations from a builder, whose classes have no public name (see
# `RestoreByParts`).
from tensorflow.python.training.saver import BulkSaverBuilder, saver_from_object_based_checkpoint

# Why internal: a Saver accepts objects other than variables only as SaveableObjects (see
# `CheckpointEntry`).
from tensorflow.python.training.saving.saveable_object import SaveableObject, SaveSpec

# Why internal: the entry of a variable has no public name (see `_CopiedRestore`).
from tensorflow.python.training.saving.saveable_object_util import ResourceVariableSaveable

from estimator_train.engine.tf_internals.constants import divide
from estimator_train.engine.tf_internals.operation_copies import Pattern, copies_are_alike

# A part of a checkpoint that one operation reads has at least this size.
_PART_BYTES = 16 * 2**20


def make_saver_by_places(checkpoint: tf.train.Checkpoint) -> tf.compat.v1.train.Saver:
    """Returns a Saver of all objects of a Checkpoint, with object-based keys.

    Why internal: a session's Scaffold makes such a Saver, and finalizes the graph with it.
    """
    entries = ObjectGraphView(checkpoint).frozen_saveable_objects()
    return tf.compat.v1.train.Saver(entries, sharded=True)


def prepare_restore_by_places(saver: tf.compat.v1.train.Saver, checkpoint_path: str) -> None:
    """Lets a Saver that names variables restore an object-based checkpoint in a final graph.

    Does nothing where the checkpoint lacks variables; `Saver.restore` then names them.

    Why internal: `Saver.restore` itself adds the operations for such a checkpoint to the graph, and
    a session's Scaffold has finalized that.

    Args:
      saver: A Saver of the default graph, built or not.
      checkpoint_path: Path prefix of the object-based checkpoint.
    """
    with contextlib.suppress(tf.errors.NotFoundError):
        saver._object_restore_saver = saver_from_object_based_checkpoint(checkpoint_path)
        saver._object_restore_saver_for_checkpoint = checkpoint_path


def find_restore_op(saver: tf.compat.v1.train.Saver) -> tf.Operation | None:
    """Returns the operation that a built Saver of the default graph restores a checkpoint with.

    Why internal: the Saver of an object-based checkpoint is private
    (see `prepare_restore_by_places`).

    Returns:
      The operation; None if the Saver may run another one.
    """
    if type(saver) is not tf.compat.v1.train.Saver or saver._object_restore_saver is not None:
        return None
    graph = tf.compat.v1.get_default_graph()
    name = saver.saver_def.restore_op_name if saver.saver_def else ""
    return graph.get_operation_by_name(name) if name else None


def list_entries_of_own_values() -> list[Any] | None:
    """Returns the entries of a synchronous worker's Saver, none of which needs a collective.

    Why internal: see `CheckpointEntry`.

    Returns:
      The entries; None if no variable is spread over the workers.
    """
    objects = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.SAVEABLE_OBJECTS)
    variables = [*tf.compat.v1.global_variables(), *objects]
    if not any(_is_spread(variable) for variable in variables):
        return None
    return [
        CheckpointEntry.from_variable(variable.name.partition(":")[0], variable)
        if _is_spread(variable)
        else variable
        for variable in variables
    ]


def _is_spread(variable: Any) -> bool:
    """Returns whether a variable is spread over the workers, so that reading it is a collective."""
    strategy = getattr(variable, "distribute_strategy", None)
    return (
        strategy is not None
        and strategy.extended._in_multi_worker_mode()
        and variable.synchronization == tf.VariableSynchronization.ON_READ
    )


def _own_value(variable: tf.Variable) -> tf.Tensor:
    """Returns the part of a variable's value that this process has."""
    if not _is_spread(variable):
        return variable.read_value()
    values = [part.read_value() for part in variable.values]
    total = tf.add_n(values)
    is_mean = variable.aggregation == tf.VariableAggregation.MEAN
    return total / len(values) if is_mean else total


class CheckpointEntry(SaveableObject):
    """Entry of a Saver: a tensor with any name, and the operation that restores it.

    Why internal: a Saver accepts variables under other names, but not mirrored variables or
    constants.

    Args:
      name: The key in the checkpoint.
      tensor: The tensor to write.
      restore: Returns the operation that assigns a restored tensor.
    """

    def __init__(
        self, name: str, tensor: tf.Tensor, restore: Callable[[tf.Tensor], tf.Operation]
    ) -> None:
        self._restore = restore
        spec = SaveSpec(tensor, "", name, dtype=tensor.dtype, device=tensor.device)
        super().__init__(tensor, [spec], name)

    def restore(self, restored_tensors: Sequence[tf.Tensor], restored_shapes: Any) -> Any:
        """Returns the operation that assigns the restored tensor."""
        del restored_shapes
        return self._restore(restored_tensors[0])

    @classmethod
    def from_variable(
        cls, name: str, variable: tf.Variable, checks_shape: bool = True
    ) -> "CheckpointEntry":
        """Makes an entry for a variable's value; called outside of replicas."""

        def assign(value: tf.Tensor) -> tf.Operation:
            # An assignment alone accepts a value of another shape.
            checked = tf.ensure_shape(value, variable.shape) if checks_shape else value
            return tf.group(variable.assign(checked))

        return cls(name, _own_value(variable), assign)

    @classmethod
    def from_constant(cls, name: str, value: bytes) -> "CheckpointEntry":
        """Returns an entry that every save writes and no restore reads."""
        return cls(name, tf.constant(value), lambda restored: tf.group(restored))


# The operations that copy and assign the first variable of a kind; None if others may differ.
_Patterns: TypeAlias = dict[Any, tuple[Pattern, Pattern] | None]


class _CopiedRestore:
    """Entry of a Saver whose restore is a copy of that of the first variable of its kind.

    The two operations of a restore take 1 ms of TensorFlow's Python code. They differ only in
    inputs and names.

    Args:
      entry: TensorFlow's entry of the variable.
      patterns: The patterns of a Saver, which the first variable of each kind adds.
    """

    def __init__(self, entry: Any, patterns: _Patterns) -> None:
        self._entry, self._patterns = entry, patterns

    def __getattr__(self, name: str) -> Any:
        return getattr(self._entry, name)

    def restore(self, restored_tensors: Sequence[tf.Tensor], restored_shapes: Any) -> Any:
        """Returns the operation that assigns the restored tensor."""
        handle, [restored] = self._entry.handle_op, restored_tensors
        kind = restored.dtype, restored.device, self._entry._var_device
        is_usual = restored.shape.rank is None and handle.graph is restored.graph
        patterns = self._patterns.get(kind) if is_usual else None
        if patterns is not None:
            [copy, assign] = patterns
            return assign.copy([handle, copy.copy([restored]).outputs[0]])
        assigned = self._entry.restore(restored_tensors, restored_shapes)
        if is_usual and kind not in self._patterns:
            self._patterns[kind] = _make_patterns(assigned, handle, restored)
        return assigned


def _make_patterns(
    assigned: tf.Operation, handle: tf.Tensor, restored: tf.Tensor
) -> tuple[Pattern, Pattern] | None:
    """Returns patterns of the operations that restore a variable; None if they are unusual."""
    if assigned.type != "AssignVariableOp" or assigned.inputs[0] is not handle:
        return None
    copy = assigned.inputs[1].op
    if copy.type != "Identity" or copy.inputs[0] is not restored:
        return None
    patterns = Pattern(copy), Pattern(assigned)
    return patterns if all(pattern.can_be_copied for pattern in patterns) else None


class RestoreByParts(BulkSaverBuilder):
    """Builder of a Saver that reads a large checkpoint by several operations, at the same time.

    The operation that TensorFlow's Saver uses reads one value after another, in one thread.

    Why internal: see the import.
    """

    def _AddRestoreOps(  # noqa: N802  TensorFlow's name
        self,
        filename_tensor: tf.Tensor,
        saveables: Sequence[Any],
        restore_sequentially: bool,
        reshape: bool,
        **way: Any,
    ) -> tf.Operation:
        """Adds the operations that restore entries."""
        if not reshape and copies_are_alike(tf.compat.v1.get_default_graph()):
            patterns: _Patterns = {}
            saveables = [
                _CopiedRestore(entry, patterns)
                if type(entry) is ResourceVariableSaveable
                else entry
                for entry in saveables
            ]
        return super()._AddRestoreOps(
            filename_tensor, saveables, restore_sequentially, reshape, **way
        )

    def bulk_restore(
        self,
        filename_tensor: tf.Tensor,
        saveables: Sequence[Any],
        preferred_shard: int,
        restore_sequentially: bool,
    ) -> list[tf.Tensor]:
        """Returns the restored tensors of all entries, in their order."""
        parts = divide(saveables, [saveable.op for saveable in saveables], _PART_BYTES)
        restore = functools.partial(super().bulk_restore, filename_tensor)
        restored = [restore(part, preferred_shard, restore_sequentially) for part in parts]
        return [tensor for tensors in restored for tensor in tensors]
