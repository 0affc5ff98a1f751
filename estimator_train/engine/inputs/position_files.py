"""The files in which positions in the input are kept, one beside each checkpoint.

A file is named as if it were one of the checkpoint's data files, which all Savers remove together
by a pattern that this name fits; tf.estimator 2.15 never opens it, since the index does not name
it.
"""

import contextlib
import json
import zlib

import tensorflow as tf

from estimator_train.engine.whole_files import write_whole

_LOG = tf.get_logger()
_NAME = "{prefix}-{step}.data-i{pipeline:04d}-of-input"


class PositionFiles:
    """Reads and writes the positions of one input pipeline.

    Args:
      prefix: Path prefix of the checkpoints, without the step.
      pipeline: The number of this input pipeline.
      pipelines: How many there are.
      source: What the input is called in messages.
    """

    def __init__(self, prefix: str, pipeline: int, pipelines: int, source: str) -> None:
        self._prefix, self._source = prefix, source
        self._pipeline, self._pipelines = pipeline, pipelines

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

    def _steps_of(self, pipeline: int) -> list[int]:
        """The steps of which a pipeline has a position."""
        pattern = self._path_of("*", pipeline)
        paths = tf.io.gfile.glob(pattern)
        return [int(path.rpartition(".data-")[0].rpartition("-")[2]) for path in paths]

    def _path_of(self, step: int | str, pipeline: int) -> str:
        return _NAME.format(prefix=self._prefix, step=step, pipeline=pipeline)

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
            checkpoint = path.rpartition(".data-")[0]
            names = [f"{checkpoint}.index", checkpoint]  # Of either format.
            if path.endswith(".part") or not any(map(tf.io.gfile.exists, names)):
                with contextlib.suppress(tf.errors.NotFoundError):
                    tf.io.gfile.remove(path)
