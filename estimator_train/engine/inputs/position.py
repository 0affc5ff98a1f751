"""The position in the input, which is saved with each checkpoint and restored with it.

Its file is complete before the checkpoint appears, so that every checkpoint has a position.

There is a file for each checkpoint and input pipeline. Its name matches the pattern of a
checkpoint's data files, so that Savers remove both together. tf.estimator 2.15 never opens it,
because the index does not name it. The position of an asynchronous worker has another name: the
worker may be absent for longer than the chief keeps a checkpoint.
"""

import contextlib
import json
import re
import zlib
from collections.abc import Callable

import tensorflow as tf

from estimator_train.engine import storage
from estimator_train.engine.inputs.input_fn import Inputs
from estimator_train.engine.loops.training_loop import WorkerCoordinator
from estimator_train.engine.storage import UNFINISHED, atomic_write, find_files, take_first_line
from estimator_train.engine.tf_internals import strategies

_NAME = "{prefix}-{step}.data-i{pipeline:04d}-of-input"
_ASYNCHRONOUS_NAME = "{prefix}-{step}.input-i{pipeline:04d}"
# The newest may belong to a checkpoint that is not complete.
_MAX_ASYNCHRONOUS = 2
_LOG = tf.get_logger()
# Errors of the storage or the session, which do not prove that a position belongs to another input.
_PASSING_FAULTS = (
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.DeadlineExceededError,
    tf.errors.PermissionDeniedError,
    tf.errors.ResourceExhaustedError,
    tf.errors.UnauthenticatedError,
    tf.errors.UnavailableError,
)
_IGNORE_STATE, _REFUSE_STATE = 1, 2  # How tf.data saves stateful functions.
_NOT_SAVED_NOW = (
    "The position in the input (%s) could not be saved at step %d: %s. The next checkpoint saves "
    "it again; a restart from this one begins at the input's start."
)
NOT_SAVED = "The position in the input (%s) is not saved, and a restart begins at its start: %s."


class PositionFiles:
    """Reader and writer of the positions of one input pipeline.

    Args:
      prefix: Path prefix of the checkpoints, without the step.
      pipeline: Index of this input pipeline.
      pipelines: Number of input pipelines.
      source: Name of the input in messages.
      asynchronous: Whether an asynchronous worker reads the pipeline.
    """

    def __init__(
        self, prefix: str, pipeline: int, pipelines: int, source: str, asynchronous: bool = False
    ) -> None:
        self._prefix, self._source = prefix, source
        self._pipeline, self._pipelines = pipeline, pipelines
        self._outlives_checkpoints = asynchronous and pipeline > 0

    def make_path(self, step: int) -> str:
        """Returns the path of the position at a step."""
        return self._make_path(step, self._pipeline)

    def write(self, step: int, position: bytes, has_more: bool) -> None:
        """Writes a position atomically.

        Args:
          step: The global step of its checkpoint.
          position: The serialized iterator.
          has_more: Whether the input has another element after it.
        """
        header = {
            "pipelines": self._pipelines,
            "size": len(position),
            "crc": zlib.crc32(position),
            "has_more": has_more,
        }
        atomic_write(self.make_path(step), json.dumps(header).encode() + b"\n" + position)
        if self._outlives_checkpoints:
            for old in sorted(self._list_steps(self._pipeline))[:-_MAX_ASYNCHRONOUS]:
                self.remove(old)

    def remove(self, step: int) -> None:
        """Removes the position at a step, if there is one."""
        with contextlib.suppress(tf.errors.NotFoundError):
            tf.io.gfile.remove(self.make_path(step))

    def find_nearest(self, step: int) -> int:
        """Returns the step of the latest position from which this pipeline can reach `step`.

        A worker may have been killed after the chief's checkpoint and before its position was
        written; it then has the position of the chief's previous checkpoint. Without a position of
        the chief the input begins at its start.
        """
        chief_steps = self._list_steps(pipeline=0)
        if step not in chief_steps:
            return step
        before = max((other for other in chief_steps if other < step), default=step)
        saved = self._list_steps(self._pipeline)
        return max((near for near in saved if before <= near <= step), default=step)

    def find_latest(self, checkpoint: str | None) -> int | None:
        """Returns the step of this pipeline's last position, if its job resumes.

        Args:
          checkpoint: The path of the latest checkpoint, or None. If the chief has no position for
            it, as at the end of an input, the training has ended and does not resume.
        """
        number = (checkpoint or "").rpartition("-")[2]
        if not number.isdecimal() or int(number) not in self._list_steps(pipeline=0):
            return None
        saved = self._list_steps(self._pipeline)
        return max((step for step in saved if step <= int(number)), default=None)

    def _list_steps(self, pipeline: int) -> list[int]:
        """Returns the steps at which a pipeline has a position."""
        pattern = self._make_path("*", pipeline).removeprefix(self._prefix)
        paths = find_files(self._prefix, pattern)
        return [int(path.rpartition(".")[0].rpartition("-")[2]) for path in paths]

    def _make_path(self, step: int | str, pipeline: int) -> str:
        is_own = self._outlives_checkpoints and pipeline == self._pipeline
        name = _ASYNCHRONOUS_NAME if is_own else _NAME
        return name.format(prefix=self._prefix, step=step, pipeline=pipeline)

    def read(self, step: int) -> tuple[bool, bytes] | None:
        """Returns whether the input has another element at a step, and the position.

        Logs a warning and returns None if there is no position that fits.
        """
        path = self.make_path(step)
        try:
            content = storage.retry_storage_faults(lambda: _read_content(path), f"read {path}")
            head, _, position = content.partition(b"\n")
            header = json.loads(head)
            if (header["size"], header["crc"]) != (len(position), zlib.crc32(position)):
                raise ValueError
        except tf.errors.NotFoundError:
            reason = f"there is no {path}"
        except (ValueError, KeyError, TypeError):
            reason = f"{path} is damaged"
        else:
            if header["pipelines"] == self._pipelines:
                return header.get("has_more", True), position
            reason = (
                f"{path} belongs to one of {header['pipelines']} pipelines, and this job has "
                f"{self._pipelines}"
            )
        _LOG.warning("The input (%s) begins at its start: %s.", self._source, reason)
        return None

    def remove_orphans(self) -> None:
        """Removes this pipeline's positions whose checkpoints were never completed."""
        pattern = self._make_path("*", self._pipeline).removeprefix(self._prefix)
        unfinished = find_files(self._prefix, f"{pattern}*{UNFINISHED}")
        for path in (*find_files(self._prefix, pattern), *unfinished):
            with contextlib.suppress(tf.errors.OpError, OSError):  # The next start removes it.
                if path.endswith(UNFINISHED) or self._is_orphan(path):
                    tf.io.gfile.remove(path)

    def _is_orphan(self, path: str) -> bool:
        checkpoint = path.rpartition(".")[0]
        names = [f"{checkpoint}.index", checkpoint]  # Of either format.
        return not (self._outlives_checkpoints or any(map(storage.is_file, names)))


def _read_content(path: str) -> bytes:
    with tf.io.gfile.GFile(path, "rb") as file:
        return file.read()


class InputPosition:
    """Position of one iterator in the graph of training, which it writes and restores.

    Args:
      inputs: The input, which reads a dataset.
      prefix: Path prefix of the checkpoints, without the step.
      source: Name of the input in messages.
      coordinator: Has the results of the workers' votes, if they vote.
      latest_checkpoint: Returns the path of the latest checkpoint, or None. Only for asynchronous
        workers: their sessions may begin at a step that has no checkpoint.
    """

    def __init__(
        self,
        inputs: Inputs,
        prefix: str,
        source: str,
        coordinator: WorkerCoordinator,
        latest_checkpoint: Callable[[], str | None] | None = None,
    ) -> None:
        self._source, self._coordinator = source, coordinator
        self._latest_checkpoint = latest_checkpoint
        shard = inputs.context or tf.distribute.InputContext()
        self._files = PositionFiles(
            prefix,
            shard.input_pipeline_id,
            shard.num_input_pipelines,
            source,
            asynchronous=latest_checkpoint is not None,
        )
        self._can_be_saved = True
        self._state: str | None = None
        self._start = 0
        handle = strategies.find_iterator_handle(inputs.iterator)
        self._next = [op for op in handle.consumers() if op.type == "IteratorGetNext"]
        self._strict = _serialize(handle, _REFUSE_STATE)
        self._position = _serialize(handle, _IGNORE_STATE)
        self._bytes = tf.compat.v1.placeholder(tf.string, [])
        self._restored = tf.raw_ops.DeserializeIterator(
            resource_handle=handle, serialized=tf.io.parse_tensor(self._bytes, tf.variant)
        )

    def restore(self, session: tf.compat.v1.Session, step: int) -> None:
        """Moves an initialized input to its position at the restored checkpoint.

        Args:
          session: A raw session.
          step: The global step of the checkpoint.

        Raises:
          ValueError: The position belongs to another input.
        """
        self._start = step
        self._find_state(session)
        saved, steps_behind = self._find_nearest(step)
        found = None if saved is None else self._files.read(saved)
        self._files.remove_orphans()
        if found is None:
            self._coordinator.set_restored_input(None)
            return
        has_more, position = found
        try:
            session.run(self._restored, {self._bytes: position})
            for _ in range(steps_behind):
                session.run(self._next)
        except tf.errors.OpError as error:
            if isinstance(error, _PASSING_FAULTS):
                raise
            raise ValueError(
                f"{self._files.make_path(saved or 0)} is not a position in this input "
                f"({self._source}), which seems to have changed. Remove the file to begin at the "
                "input's start, or train with RunConfig(save_input_position=False). "
                f"TensorFlow says: {take_first_line(error)}"
            ) from error
        self._coordinator.set_restored_input(has_more)
        _LOG.info("The input continues from its position at step %d.", step)

    def _find_nearest(self, step: int) -> tuple[int | None, int]:
        """Returns the step of the position to restore, if any, and the elements read after it."""
        if self._latest_checkpoint is not None:
            return self._files.find_latest(self._latest_checkpoint()), 0
        if not step:
            return None, 0
        saved = self._files.find_nearest(step)
        return saved, step - saved

    def write(self, session: tf.compat.v1.Session, step: int) -> None:
        """Writes the current position for the checkpoint of a step."""
        if not self._can_be_saved:
            return
        try:
            position = session.run(self._position)
            self._warn_of_unsaved_state(step)
            self._files.write(step, position, not self._coordinator.input_ended)
        except (tf.errors.OpError, OSError) as error:
            reason = take_first_line(error)
            # Datasets of Python, and of the tf.data service.
            unsaved = re.search(r"\w+ does not support checkpointing", reason)
            if unsaved or isinstance(error, tf.errors.UnimplementedError):
                self._can_be_saved = False
                _LOG.warning(NOT_SAVED, self._source, unsaved[0] if unsaved else reason)
            else:
                _LOG.warning(_NOT_SAVED_NOW, self._source, step, reason)

    def remove_at_end(self, session: tf.compat.v1.Session, step: int) -> None:
        """Removes the position if the input has ended, so that the next training starts it again.

        If that is not known it reads an element, so that no step can follow.
        """
        has_more = self._coordinator.has_more
        if has_more is None:
            try:
                session.run(self._next)
            except tf.errors.OutOfRangeError:
                has_more = False
            except tf.errors.OpError:
                pass  # The next training that reads the input raises it.
        if has_more is False:
            self._files.remove(step)

    def _find_state(self, session: tf.compat.v1.Session) -> None:
        """Finds a function of the dataset whose state cannot be saved."""
        self._state = None
        try:
            session.run(self._strict.op)
        except tf.errors.OpError as error:
            found = re.search(r"(\w+) is stateful", error.message)
            self._state = found[1] if found else None

    def _warn_of_unsaved_state(self, step: int) -> None:
        """Warns of unsaved state at the first save after a step: then the rest was saved."""
        if self._state and step > self._start:
            _LOG.warning(
                "The position in the input (%s) is saved, but not the state of its %s: after a "
                "restart no example is missing or repeated, but that operation may give another "
                "result for an example.",
                self._source,
                self._state,
            )
            self._state = None


def _serialize(handle: tf.Tensor, policy: int) -> tf.Tensor:
    serialized = tf.raw_ops.SerializeIterator(resource_handle=handle, external_state_policy=policy)
    return tf.io.serialize_tensor(serialized)
