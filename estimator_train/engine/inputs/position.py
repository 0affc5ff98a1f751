"""The position in the input, which is saved with each checkpoint and restored with it.

Its file is complete before the checkpoint appears, so that every checkpoint has a position.
"""

import re
from collections.abc import Callable

import tensorflow as tf

from estimator_train.engine.inputs.input_fn import Inputs
from estimator_train.engine.inputs.position_files import PositionFiles
from estimator_train.engine.loops.coordination import WorkerAgreement
from estimator_train.engine.tf_internals import iterators

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


class InputPosition:
    """Position of one iterator in the graph of training, which it writes and restores.

    Args:
      inputs: The input, which reads a dataset.
      prefix: Path prefix of the checkpoints, without the step.
      source: Name of the input in messages.
      agreement: Results of the workers' votes.
      latest_checkpoint: Returns the path of the latest checkpoint, or None. Only for asynchronous
        workers: their sessions may begin at a step that has no checkpoint.
    """

    def __init__(
        self,
        inputs: Inputs,
        prefix: str,
        source: str,
        agreement: WorkerAgreement,
        latest_checkpoint: Callable[[], str | None] | None = None,
    ) -> None:
        self._source, self._agreement = source, agreement
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
        handle = iterators.find_iterator_handle(inputs.iterator)
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
            self._agreement.restored_has_next = None
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
                f"TensorFlow says: {error.message}"
            ) from error
        self._agreement.restored_has_next = has_more
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
            self._files.write(step, position, self._agreement.has_more is not False)
        except (tf.errors.OpError, OSError) as error:
            message = str(getattr(error, "message", error)).strip()
            reason = re.search(r"\w+ does not support checkpointing", message)
            if reason:
                self._can_be_saved = False
                _LOG.warning(NOT_SAVED, self._source, reason[0])
            else:
                _LOG.warning(_NOT_SAVED_NOW, self._source, step, message)

    def remove_at_end(self, session: tf.compat.v1.Session, step: int) -> None:
        """Removes the position if the input has ended, so that the next training starts it again.

        If that is not known it reads an element, so that no step can follow.
        """
        has_more = self._agreement.has_more
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
