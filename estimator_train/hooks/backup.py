"""Backups of a training between its checkpoints, like Keras' `BackupAndRestore` for `fit`."""

import os

import tensorflow as tf

from estimator_train.engine.storage import find_files, remove_checkpoint
from estimator_train.engine.types import EveryNStepsHook, HookPhase

_LOG = tf.get_logger()
_STATE = "backup"


class BackupAndRestore(EveryNStepsHook):
    """Hook that backs up all variables at intervals, so that training continues after a crash.

    A backup is a checkpoint in `backup_dir`, which contains only the last backup. When training
    starts, it continues from the backup if the backup has a later step than the latest checkpoint
    in model_dir. When training ends, the hook removes the backup.

    Args:
      backup_dir: Directory for the backups of this training; it must not be the model_dir or the
        backup_dir of another training.
      save_freq: Steps between backups, or "epoch" for a backup after each epoch.
      steps_per_epoch: Steps in an epoch, with save_freq="epoch".
      delete_checkpoint: Whether to remove the backup when training ends without an error.

    Raises:
      ValueError: `backup_dir` is empty, `save_freq` is neither "epoch" nor positive, or
        `save_freq` is "epoch" without `steps_per_epoch`.
    """

    phase = HookPhase.SETS_VARIABLES

    def __init__(
        self,
        backup_dir: str | os.PathLike[str],
        save_freq: int | str = "epoch",
        steps_per_epoch: int | None = None,
        delete_checkpoint: bool = True,
    ) -> None:
        if not backup_dir:
            raise ValueError("backup_dir must be a directory, got an empty path.")
        if save_freq == "epoch" and not steps_per_epoch:
            raise ValueError(
                "save_freq='epoch' needs steps_per_epoch, the number of steps in an epoch. Or set "
                "save_freq to the number of steps between backups."
            )
        every = steps_per_epoch if save_freq == "epoch" else save_freq
        if not isinstance(every, int) or every <= 0:
            raise ValueError(f"save_freq must be 'epoch' or a positive number, got {every!r}.")
        super().__init__(every)
        self._dir = os.fspath(backup_dir)
        self._delete = delete_checkpoint

    def begin(self) -> None:
        """Finds the global step and the Saver of the graph, or creates a Saver of all variables.

        A model_fn with its own Saver, as of a Keras model, leaves none in the collection.
        """
        self._global_step = tf.compat.v1.train.get_global_step()
        # The hook runs the operations of the Saver. The methods of the Saver would count a backup
        # as one of the checkpoints to keep.
        savers = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.SAVERS)
        self._model_saver = savers[0] if savers else tf.compat.v1.train.Saver()

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Restores the backup, if its step is later than that of the restored checkpoint."""
        self._saver = self._model_saver.saver_def
        self._step = int(session.run(self._global_step))
        path = tf.train.latest_checkpoint(self._dir, _STATE)
        if path is None or _parse_step(path) <= self._step:
            return
        _LOG.info("Restored the backup %s; training continues from it.", path)
        session.run(self._saver.restore_op_name, {self._saver.filename_tensor_name: path})
        self._step = int(session.run(self._global_step))

    def end(self, session: tf.compat.v1.Session) -> None:
        """Removes the backup."""
        if self._delete and tf.io.gfile.exists(self._dir):
            for path in find_files(self._dir, f"/{_STATE}*"):
                tf.io.gfile.remove(path)

    def act(self, session: tf.compat.v1.Session) -> None:
        """Writes a backup."""
        tf.io.gfile.makedirs(self._dir)
        step = int(session.run(self._global_step))
        path = os.path.join(self._dir, f"{_STATE}-{step}")
        before = tf.train.latest_checkpoint(self._dir, _STATE)
        session.run(self._saver.save_tensor_name, {self._saver.filename_tensor_name: path})
        # The state file names the backup only after it is complete.
        tf.compat.v1.train.update_checkpoint_state(self._dir, path, latest_filename=_STATE)
        if before and before != path:
            remove_checkpoint(before)


def _parse_step(path: str) -> int:
    return int(path.rpartition("-")[2])
