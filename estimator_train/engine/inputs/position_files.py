"""The files in which positions in the input are kept, one beside each checkpoint.

A file is named as if it were one of the checkpoint's data files, which all Savers remove together
by a pattern that this name fits; tf.estimator 2.15 never opens it, since the index does not name
it. The position of an asynchronous worker is kept apart: that may be away for longer than the chief
keeps a checkpoint.
"""

import contextlib
import json
import zlib

import tensorflow as tf

from estimator_train.engine.whole_files import write_whole

_LOG = tf.get_logger()
_NAME = "{prefix}-{step}.data-i{pipeline:04d}-of-input"
_ASYNCHRONOUS_NAME = "{prefix}-{step}.input-i{pipeline:04d}"
# The last checkpoint may not be finished.
_ASYNCHRONOUS_KEPT = 2


class PositionFiles:
    """Reads and writes the positions of one input pipeline.

    Args:
      prefix: Path prefix of the checkpoints, without the step.
      pipeline: The number of this input pipeline.
      pipelines: How many there are.
      source: What the input is called in messages.
      asynchronous: Whether it is one of an asynchronous worker.
    """

    def __init__(
        self, prefix: str, pipeline: int, pipelines: int, source: str, asynchronous: bool = False
    ) -> None:
        self._prefix, self._source = prefix, source
        self._pipeline, self._pipelines = pipeline, pipelines
        self._outlives_checkpoints = asynchronous and pipeline > 0

    def path(self, step: int) -> str:
        """The path of the position at a step."""
        return self._path_of(step, self._pipeline)

    def write(self, step: int, position: bytes, has_more: bool) -> None:
        """Writes a position, which can be seen when it is whole.

        Args:
          step: The global step of the checkpoint beside it.
          position: The serialized iterator.
          has_more: Whether the input has another element there.
        """
        header = {
            "pipelines": self._pipelines,
            "size": len(position),
            "crc": zlib.crc32(position),
            "has_more": has_more,
        }
        write_whole(self.path(step), json.dumps(header).encode() + b"\n" + position)
        if self._outlives_checkpoints:
            for old in sorted(self._steps_of(self._pipeline))[:-_ASYNCHRONOUS_KEPT]:
                self.remove(old)

    def remove(self, step: int) -> None:
        """Removes the position at a step, if there is one."""
        with contextlib.suppress(tf.errors.NotFoundError):
            tf.io.gfile.remove(self.path(step))

    def nearest(self, step: int) -> int:
        """The step whose position is taken up, with the elements read that followed until `step`.

        A worker may have been killed between the chief's checkpoint and its own position; it has
        that of the chief's checkpoint before. Where the chief has none either, the input is to
        begin at its start.
        """
        chiefs = self._steps_of(pipeline=0)
        if step not in chiefs:
            return step
        before = max((other for other in chiefs if other < step), default=step)
        own = self._steps_of(self._pipeline)
        return max((near for near in own if before <= near <= step), default=step)

    def latest(self, checkpoint: str | None) -> int | None:
        """The step of this pipeline's last position, if its job goes on from a checkpoint.

        Args:
          checkpoint: The path of the latest checkpoint, or None. One without a position of the
            chief's, as at the end of an input, is of a training that has ended.
        """
        number = (checkpoint or "").rpartition("-")[2]
        if not number.isdecimal() or int(number) not in self._steps_of(pipeline=0):
            return None
        own = self._steps_of(self._pipeline)
        return max((step for step in own if step <= int(number)), default=None)

    def _steps_of(self, pipeline: int) -> list[int]:
        """The steps of which a pipeline has a position."""
        pattern = self._path_of("*", pipeline)
        paths = tf.io.gfile.glob(pattern)
        return [int(path.rpartition(".")[0].rpartition("-")[2]) for path in paths]

    def _path_of(self, step: int | str, pipeline: int) -> str:
        is_own = self._outlives_checkpoints and pipeline == self._pipeline
        name = _ASYNCHRONOUS_NAME if is_own else _NAME
        return name.format(prefix=self._prefix, step=step, pipeline=pipeline)

    def read(self, step: int) -> tuple[bool, bytes] | None:
        """Whether there is more at a step, and the position; None, with a warning, if none."""
        path = self.path(step)
        try:
            with tf.io.gfile.GFile(path, "rb") as file:
                head, _, position = file.read().partition(b"\n")
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
                f"{path} is of one of {header['pipelines']} pipelines, and now there are "
                f"{self._pipelines}"
            )
        _LOG.warning("The input (%s) begins at its start: %s.", self._source, reason)
        return None

    def remove_orphans(self) -> None:
        """Removes this pipeline's positions whose checkpoints were never finished."""
        pattern = self._path_of("*", self._pipeline)
        for path in tf.io.gfile.glob([pattern, pattern + ".part"]):
            checkpoint = path.removesuffix(".part").rpartition(".")[0]
            names = [f"{checkpoint}.index", checkpoint]  # Of either format.
            is_orphan = not (self._outlives_checkpoints or any(map(tf.io.gfile.exists, names)))
            if path.endswith(".part") or is_orphan:
                with contextlib.suppress(tf.errors.NotFoundError):
                    tf.io.gfile.remove(path)
