"""The position in the input, saved in a file beside each checkpoint and taken up again from there.

It is written before the checkpoint can be seen, so that no checkpoint is without its position.
"""

import functools
import os
import re
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals
from estimator_train.engine.checkpoints.integrity import latest_checkpoint
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.hook_types import Hook, SaverHook
from estimator_train.engine.inputs.input_fn import Inputs
from estimator_train.engine.inputs.position_files import PositionFiles
from estimator_train.engine.inputs.position_hooks import SavePositionOfWorker, TakeUpPosition

_LOG = tf.get_logger()
_IGNORE_STATE, _REFUSE_STATE = 1, 2  # What tf.data does about stateful functions as it saves.
_NOT_SAVED = "The position in the input (%s) is not saved, and a restart begins at its start: %s."


def saved_position(
    context: EstimatorContext,
    inputs: Inputs,
    input_fn: Any,
    users_savers: Sequence[SaverHook],
) -> "InputPosition | None":
    """The position of a training's input; None where it cannot be saved.

    Args:
      context: The estimator that is run.
      inputs: Its input, in the default graph.
      input_fn: The user's input_fn, for messages.
      users_savers: Hooks of the user's that write the checkpoints in place of the engine's.

    Raises:
      ValueError: Synchronous workers that save by seconds cannot be told when.
    """
    config = context.config
    source = getattr(input_fn, "__qualname__", None) or repr(input_fn)
    reason = None
    if inputs.iterator is None:
        reason = "input_fn did not return a Dataset"
    elif users_savers:
        prefix = tf_internals.saving_prefix(users_savers[0])
    elif config.save_checkpoints_steps or config.save_checkpoints_secs:
        prefix = os.path.join(context.model_dir, "model.ckpt")
    else:
        reason = "no checkpoints are saved"
    if reason:
        _LOG.warning(_NOT_SAVED, source, reason)
        return None
    place = context.topology.input_context
    if place is not None:
        latest = functools.partial(latest_checkpoint, context.model_dir)
        return InputPosition(inputs, prefix, source, place, latest)
    by_clock = config.save_checkpoints_steps is None
    if config.num_worker_replicas > 1 and by_clock and inputs.chief_saves is None:
        raise ValueError(
            "RunConfig(save_input_position=True) with workers of several replicas each needs "
            "save_checkpoints_steps: by save_checkpoints_secs only the chief knows when it saves."
        )
    position = InputPosition(inputs, prefix, source)
    if not config.is_chief:
        every = config.save_checkpoints_steps or 0
        position.saving_hooks.append(SavePositionOfWorker(position, inputs, every))
    return position


class InputPosition:
    """Writes and reads the position of one iterator; made in the graph of training.

    Args:
      inputs: The input, a dataset's.
      prefix: Path prefix of the checkpoints, without the step.
      source: What the input is called in messages.
      place: The place of an asynchronous worker's input; by default that of `inputs`.
      latest_checkpoint: Returns the path of the latest checkpoint, or None: for an asynchronous
        worker, whose session may begin at a step of which there is no checkpoint.

    Attributes:
      hooks: Hooks that come once the input is started.
      saving_hooks: Hooks that come once all workers have their place in it.
    """

    def __init__(
        self,
        inputs: Inputs,
        prefix: str,
        source: str,
        place: tf.distribute.InputContext | None = None,
        latest_checkpoint: Callable[[], str | None] | None = None,
    ) -> None:
        self._source, self._inputs = source, inputs
        self._latest_checkpoint = latest_checkpoint
        place = place or inputs.context or tf.distribute.InputContext()
        self._files = PositionFiles(
            prefix,
            place.input_pipeline_id,
            place.num_input_pipelines,
            source,
            asynchronous=latest_checkpoint is not None,
        )
        self._can_be_saved = True
        self._state: str | None = None
        self._start = 0
        handle = tf_internals.iterator_handle(inputs.iterator)
        self._next = [op for op in handle.consumers() if op.type == "IteratorGetNext"]
        self._strict = _serialized(handle, _REFUSE_STATE)
        self._position = _serialized(handle, _IGNORE_STATE)
        self._bytes = tf.compat.v1.placeholder(tf.string, [])
        self._restored = tf.raw_ops.DeserializeIterator(
            resource_handle=handle, serialized=tf.io.parse_tensor(self._bytes, tf.variant)
        )

        self.hooks: list[Hook] = [TakeUpPosition(self)]
        self.saving_hooks: list[Hook] = []

    def take_up(self, session: tf.compat.v1.Session, step: int) -> None:
        """Moves an input at its start to where it was at the checkpoint that was restored.

        Args:
          session: A raw session, its input just initialized.
          step: The global step of the checkpoint.

        Raises:
          ValueError: The position is that of another input.
        """
        self._start = step
        self._find_state(session)
        saved, steps_behind = self._nearest(step)
        found = None if saved is None else self._files.read(saved)
        self._files.remove_orphans()
        if found is None:
            self._inputs.placed(None)
            return
        has_more, position = found
        try:
            session.run(self._restored, {self._bytes: position})
            for _ in range(steps_behind):
                session.run(self._next)
        except tf.errors.OpError as error:
            raise ValueError(
                f"{self._files.path(saved or 0)} is not a position in this input ({self._source}), "
                "which seems to have changed. Remove the file to begin at the input's start, or "
                f"train with RunConfig(save_input_position=False). TensorFlow says: {error.message}"
            ) from error
        self._inputs.placed(has_more)
        _LOG.info("The input continues from its position at step %d.", step)

    def _nearest(self, step: int) -> tuple[int | None, int]:
        """The step whose position is taken up, if any, and the elements read after it."""
        if self._latest_checkpoint is not None:
            return self._files.latest(self._latest_checkpoint()), 0
        if not step:
            return None, 0
        saved = self._files.nearest(step)
        return saved, step - saved

    def write(self, session: tf.compat.v1.Session, step: int) -> None:
        """Writes the position of this moment for the checkpoint of a step."""
        if not self._can_be_saved:
            return
        try:
            position = session.run(self._position)
        except tf.errors.OpError as error:
            self._can_be_saved = False
            reason = re.search(r"\w+ does not support checkpointing", error.message)
            _LOG.warning(_NOT_SAVED, self._source, reason[0] if reason else error.message.strip())
            return
        self._say_what_is_not_saved(step)
        self._files.write(step, position, self._inputs.has_more is not False)

    def forget_end(self, session: tf.compat.v1.Session, step: int) -> None:
        """Removes the position if the input is at its end: another training begins at its start.

        If that is not known an element is read to find out, so that this comes last of all.
        """
        has_more = self._inputs.has_more
        if has_more is None:
            try:
                session.run(self._next)
            except tf.errors.OutOfRangeError:
                has_more = False
            except tf.errors.OpError:
                pass  # What is wrong with it is for the training that reads it.
        if has_more is False:
            self._files.remove(step)

    def _find_state(self, session: tf.compat.v1.Session) -> None:
        """Finds out whether functions of the dataset have a state that cannot be saved."""
        self._state = None
        try:
            session.run(self._strict.op)
        except tf.errors.OpError as error:
            found = re.search(r"(\w+) is stateful", error.message)
            self._state = found[1] if found else None

    def _say_what_is_not_saved(self, step: int) -> None:
        """Warns of state once it is sure that all else can be saved: not before reading began."""
        if self._state and step > self._start:
            _LOG.warning(
                "The position in the input (%s) is saved, but not the state of its %s: after a "
                "restart no example is missing or comes twice, but what that operation does with "
                "an example may differ.",
                self._source,
                self._state,
            )
            self._state = None


def _serialized(handle: tf.Tensor, policy: int) -> tf.Tensor:
    serialized = tf.raw_ops.SerializeIterator(resource_handle=handle, external_state_policy=policy)
    return tf.io.serialize_tensor(serialized)
