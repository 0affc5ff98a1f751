"""Files of positions in the input, one for each checkpoint and input pipeline.

The name of a file matches the pattern of a checkpoint's data files, so that Savers remove both
together. tf.estimator 2.15 never opens it, because the index does not name it. The position of
an asynchronous worker has another name: the worker may be absent for longer than the chief keeps a
checkpoint.
"""

import contextlib
import json
import zlib

import tensorflow as tf

from estimator_train.engine.atomic_write import UNFINISHED, atomic_write
from estimator_train.engine.checkpoints import storage

_LOG = tf.get_logger()
_NAME = "{prefix}-{step}.data-i{pipeline:04d}-of-input"
_ASYNCHRONOUS_NAME = "{prefix}-{step}.input-i{pipeline:04d}"
# The newest may belong to a checkpoint that is not complete.
_MAX_ASYNCHRONOUS = 2


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
        pattern = self._make_path("*", pipeline)
        paths = tf.io.gfile.glob(pattern)
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
        pattern = self._make_path("*", self._pipeline)
        for path in tf.io.gfile.glob([pattern, pattern + UNFINISHED]):
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
