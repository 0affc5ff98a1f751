"""A session that computes named outputs from named inputs."""

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals
from estimator_train.predictor.batches import fed_value


class Predictor:
    """Computes tensors of a graph from others; several threads may call it at a time.

    Args:
      session: A session that is ready to run; closed with the predictor.
      feed_tensors: Name to tensor that a batch is fed to.
      fetch_tensors: Name to tensor that is computed.

    Attributes:
      session: The session.
      graph: Its graph.
      feed_tensors: Name to tensor that a batch is fed to.
      fetch_tensors: Name to tensor that is computed.
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
        self._run: Callable[..., list[Any]] | None = tf_internals.session_call(
            session, list(self.feed_tensors.values()), list(self.fetch_tensors.values())
        )

    def predict(self, batch: Any) -> dict[str, Any]:
        """Computes the outputs for one batch.

        Args:
          batch: Name of an input to its value, an array or nested list; the bare value where there
            is one input alone. Numbers are cast to the input's dtype. What the outputs do not need
            may be left out, or None.

        Returns:
          Name of each output to its NumPy value.

        Raises:
          ValueError: The batch has other names or shapes than the inputs, lacks what the outputs
            need, or the predictor is closed.
        """
        run = self._run
        if run is None:
            raise ValueError("This predictor is closed; open another one for further batches.")
        values = _by_name(batch, self.feed_tensors)
        fed = {
            name: fed_value(name, values[name], to)
            for name, to in self.feed_tensors.items()
            if values.get(name) is not None
        }
        if len(fed) < len(self.feed_tensors):
            return self._predict_from(fed)
        return dict(zip(self._names, run(*fed.values()), strict=True))

    __call__ = predict

    def _predict_from(self, fed: Mapping[str, Any]) -> dict[str, Any]:
        """Computes the outputs from some of the inputs."""
        try:
            found: dict[str, Any] = self.session.run(
                self.fetch_tensors, {self.feed_tensors[name]: fed[name] for name in fed}
            )
        except tf.errors.InvalidArgumentError as error:
            missing = sorted(set(self.feed_tensors) - set(fed))
            if "must feed a value" not in error.message:
                raise
            raise ValueError(
                f"The batch has no values for the inputs {missing}, and the outputs "
                f"{sorted(self.fetch_tensors)} need them: {error.message.splitlines()[0]}"
            ) from error
        return found

    def close(self) -> None:
        """Releases the model; calls that are under way in other threads are cancelled."""
        self._run = None
        self.session.close()

    def __enter__(self) -> "Predictor":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _by_name(batch: Any, feed_tensors: Mapping[str, tf.Tensor]) -> Mapping[str, Any]:
    """The batch as a mapping with no other names than those of the inputs.

    Raises:
      ValueError: It has others.
    """
    if not isinstance(batch, Mapping):
        if len(feed_tensors) != 1:
            raise ValueError(
                f"The model has the inputs {sorted(feed_tensors)}, so a batch is a dict with these "
                f"keys; got {type(batch).__name__}."
            )
        return {next(iter(feed_tensors)): batch}
    unexpected = sorted(set(batch) - set(feed_tensors))
    if unexpected:
        raise ValueError(
            f"Got unexpected keys in input_dict: {unexpected}\nexpected: {sorted(feed_tensors)}"
        )
    return batch
