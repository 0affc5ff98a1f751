"""Test whether XLA compiles a function, and the error if it does not."""

import re
import textwrap

import tensorflow as tf

_UNSUPPORTED = re.compile(r"unsupported operations.*?: (\w+) \(.*?\{\{node ([^}]+)\}\}", re.DOTALL)
_FAILED = re.compile(
    r"([^.\n]+)[^\n]*\n+Stack trace for op definition.*?\{\{node ([^}]+)\}\}", re.DOTALL
)


class NotCompilableError(Exception):
    """Error for a step that XLA cannot compile; the message names the reason."""


class Trial:
    """Test whether XLA compiles a function of steps: a call that changes no variable.

    Training steps may run at the same time.

    Args:
      result: A tensor that the function returns when it is called for no steps, or with copies of
        the variables.
      end: Operation that deletes the copies, or None.
      batch_size: Scalar of the graph that gives the number of examples in the input of the call,
        or None if it is known.
    """

    def __init__(
        self,
        result: tf.Tensor,
        end: tf.Operation | None = None,
        batch_size: tf.Tensor | None = None,
    ) -> None:
        self._call, self._end, self._batch_size = result.op, end, batch_size

    def run(self, session: tf.compat.v1.Session, batch_size: int | None = None) -> None:
        """Compiles the function.

        Args:
          session: A raw session, with initialized variables.
          batch_size: Number of examples in a batch, if it is known.

        Raises:
          NotCompilableError: XLA cannot compile it.
        """
        has_size = self._batch_size is not None and batch_size is not None
        try:
            session.run(self._call, {self._batch_size: batch_size} if has_size else None)
        except tf.errors.OpError as error:
            found = _UNSUPPORTED.search(error.message) or _FAILED.search(error.message)
            message = textwrap.shorten(error.message, 200)
            reason = f"'{found[2]}' ({found[1]})" if found else message
            raise NotCompilableError(reason) from error
        finally:
            if self._end is not None:
                session.run(self._end)
