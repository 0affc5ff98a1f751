"""Predictor that computes named outputs from named inputs in a session."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.engine.tf_internals import sessions
from estimator_train.predictor.batches import ArrayLike, Batch, convert_to_input_array


class MissingInputError(tf.errors.InvalidArgumentError, ValueError):  # type: ignore[misc]
    """A batch lacks an input that the outputs need."""


class Predictor:
    """Predictor of a session's outputs. Several threads may call it at the same time.

    Args:
      session: A session with initialized variables; the predictor closes it.
      feed_tensors: Maps input names to the tensors to feed.
      fetch_tensors: Maps output names to the tensors to compute.

    Attributes:
      session: The session.
      graph: The graph of the session.
      feed_tensors: Maps input names to the tensors to feed.
      fetch_tensors: Maps output names to the tensors to compute.
    """

    def __init__(
        self,
        session: tf.compat.v1.Session,
        feed_tensors: Mapping[str, tf.Tensor],
        fetch_tensors: Mapping[str, tf.Tensor],
    ) -> None:
        self.session = session
        self.graph = session.graph
        self.feed_tensors = dict(feed_tensors)
        self.fetch_tensors = dict(fetch_tensors)
        self._names = list(self.fetch_tensors)
        self._run: Callable[..., list[Any]] | None = _make_call(
            session, list(self.feed_tensors.values()), list(self.fetch_tensors.values())
        )

    def predict(self, batch: Batch) -> dict[str, Any]:
        """Computes the outputs for one batch.

        Args:
          batch: Maps input names to values, which are arrays or nested lists; or a single value if
            there is only one input. Numbers are cast to the dtype of the input. Inputs that the
            outputs do not need may be missing or None.

        Returns:
          Maps output names to NumPy values.

        Raises:
          ValueError: The names or shapes of the batch do not match the inputs, an input that the
            outputs need is missing (also an InvalidArgumentError), or the predictor is closed.
        """
        run = self._run
        if run is None:
            raise ValueError("This predictor is closed; open another one for further batches.")
        values = _as_inputs(batch, self.feed_tensors)
        inputs = {
            name: convert_to_input_array(name, values[name], tensor)
            for name, tensor in self.feed_tensors.items()
            if values.get(name) is not None
        }
        if len(inputs) < len(self.feed_tensors):
            return self._predict_from_some(inputs)
        return dict(zip(self._names, run(*inputs.values()), strict=True))

    __call__ = predict

    def _predict_from_some(self, inputs: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """Computes the outputs from some of the inputs."""
        feeds = {self.feed_tensors[name]: value for name, value in inputs.items()}
        try:
            outputs: dict[str, Any] = self.session.run(self.fetch_tensors, feeds)
        except tf.errors.InvalidArgumentError as error:
            missing = sorted(set(self.feed_tensors) - set(inputs))
            if "must feed a value" not in error.message:
                raise
            raise MissingInputError(
                error.node_def,
                error.op,
                f"The batch has no values for the inputs {missing}, but the outputs "
                f"{sorted(self.fetch_tensors)} need them: {error.message.splitlines()[0]}",
            ) from error
        return outputs

    def close(self) -> None:
        """Releases the model, and cancels calls in other threads."""
        self._run = None
        self.session.close()

    def __enter__(self) -> "Predictor":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _make_call(
    session: tf.compat.v1.Session, feeds: Sequence[tf.Tensor], fetches: Sequence[tf.Tensor]
) -> Callable[..., list[Any]]:
    """Returns a function from the values of `feeds` to those of `fetches`.

    An output may be an input, and a tensor may have two names; only `Session.run` accepts these.
    """
    fed = {tensor.name for tensor in feeds}
    if not fetches:
        return lambda *_: []
    if len(fed) == len(feeds) and not any(tensor.name in fed for tensor in fetches):
        return sessions.prepare_session_call(session, feeds, fetches)
    return lambda *values: session.run(fetches, dict(zip(feeds, values, strict=True)))


def _as_inputs(batch: Batch, feed_tensors: Mapping[str, tf.Tensor]) -> Mapping[str, ArrayLike]:
    """Returns the batch as a mapping from input names.

    Raises:
      ValueError: The batch has other names.
    """
    if not isinstance(batch, Mapping):
        if len(feed_tensors) != 1:
            raise ValueError(
                f"The model has the inputs {sorted(feed_tensors)}, so a batch must be a dict with "
                f"these keys, but got {type(batch).__name__}."
            )
        return {next(iter(feed_tensors)): batch}
    unexpected = sorted(set(batch) - set(feed_tensors))
    if unexpected:
        raise ValueError(
            f"Got unexpected keys in input_dict: {unexpected}\nexpected: {sorted(feed_tensors)}"
        )
    return batch
