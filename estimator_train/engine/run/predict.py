"""Prediction: a generator over the predictions for an input."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.checkpoints import warm_start
from estimator_train.engine.checkpoints.reading import note_untrained, opened
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.graph.step_graph import call_model_fn, model_graph
from estimator_train.engine.hook_types import Hook
from estimator_train.engine.inputs.input_fn import Inputs, inputs_of
from estimator_train.engine.sessions.model_session import Call, model_session
from estimator_train.engine.sessions.open_model import Built, PlainSession
from estimator_train.estimator_spec.spec import ModeKeys

_LOG = tf.get_logger()
_SHORT_SECS = 1e-3


def predict(
    context: EstimatorContext,
    input_fn: Any,
    predict_keys: Sequence[str] | str | None,
    hooks: Sequence[Hook],
    checkpoint_path: str | None,
    yield_single_examples: bool,
) -> Iterator[Any]:
    """Yields predictions until the input ends.

    Args:
      context: The estimator that is run.
      input_fn: The user's input_fn; its labels, if any, are ignored.
      predict_keys: Names of the predictions to compute; all by default.
      hooks: Hooks of the caller.
      checkpoint_path: The checkpoint; by default the latest.
      yield_single_examples: Whether to yield examples one by one or whole batches.
    """

    def session_at(path: str | None) -> contextlib.AbstractContextManager[Call]:
        note_untrained(context.model_dir, path, "predict")

        def build() -> Built:
            return _built(context, input_fn, predict_keys, path)

        master = context.config.master
        return model_session(context, ModeKeys.PREDICT, input_fn, path, hooks, build, master=master)

    with opened(context.model_dir, checkpoint_path, session_at) as (_, call):
        batches = _Batches(call.session, chosen(call.built.fetches, predict_keys))
        while not call.session.should_stop():
            batch = batches.next()
            if yield_single_examples:
                yield from _examples(batch)
            else:
                yield batch


def _built(
    context: EstimatorContext,
    input_fn: Any,
    predict_keys: Sequence[str] | str | None,
    path: str | None,
) -> Built:
    with model_graph(context) as graph:
        tf.compat.v1.train.create_global_step()
        inputs = inputs_of(context, input_fn, ModeKeys.PREDICT)
        _warn_if_endless(inputs)
        spec = call_model_fn(context, inputs.features, None, ModeKeys.PREDICT)
        if context.warm_start:
            warm_start.apply(context.warm_start, path)
        chosen(spec.predictions, predict_keys)  # A wrong key fails before a session is made.
        return Built(graph, inputs, spec.scaffold, spec.prediction_hooks, spec.predictions)


class _Batches:
    """Computes the predictions of one batch after the other.

    Where that takes less than a millisecond, handing the operations over to other threads costs
    more than the operations; this thread then runs them.
    """

    def __init__(self, session: Any, predictions: Any) -> None:
        self._session = session
        self._predictions = predictions
        self._call: Callable[..., list[Any]] | None = None
        are_named = isinstance(predictions, dict)
        self._names = list(predictions) if are_named else None
        self._tensors = list(predictions.values()) if are_named else [predictions]
        self._can_be_short = isinstance(session, PlainSession) and all(
            isinstance(tensor, tf.Tensor) for tensor in self._tensors
        )

    def next(self) -> Any:
        """The next batch's values, structured as the predictions."""
        if self._call is not None:
            found = self._call()
            return found[0] if self._names is None else dict(zip(self._names, found, strict=True))
        start = time.perf_counter()
        values = self._session.run(self._predictions)
        if self._can_be_short and time.perf_counter() - start < _SHORT_SECS:
            self._call = self._session.short_call(self._tensors)
        return values


def _warn_if_endless(inputs: Inputs) -> None:
    queues = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS)
    iterators = tf.compat.v1.get_collection("iterators")
    if not (inputs.iterator or queues or iterators):
        _LOG.warning(
            "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means "
            "predict yields forever. This is probably a mistake."
        )


def chosen(predictions: Any, keys: Sequence[str] | str | None) -> Any:
    """The predictions that were asked for.

    Args:
      predictions: What model_fn predicts.
      keys: Names of predictions; all by default.

    Raises:
      ValueError: Keys are given and predictions is not a dict, or has none of the keys.
    """
    if not keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    chosen = {name: tensor for name, tensor in predictions.items() if name in keys}
    if not chosen:
        raise ValueError(
            f"Expected to run at least one output from {predictions.keys()}, provided {keys}."
        )
    return chosen


def _examples(batch: Any) -> Sequence[Any]:
    """The examples of a batch.

    Raises:
      ValueError: Predictions of the batch differ in their first dimension, or one has none.
    """
    if not isinstance(batch, dict):
        return batch
    lengths = {}
    for name, values in batch.items():
        if not getattr(values, "ndim", 0):
            raise ValueError(
                f"Prediction '{name}' has no batch dimension: its value is {values!r}. Give it "
                "one value an example in model_fn, or call predict with "
                "yield_single_examples=False."
            )
        lengths[name] = len(values)
    expected = next(iter(lengths.values()))
    for name, length in lengths.items():
        if length != expected:
            raise ValueError(
                f"Batch length of predictions should be same. {name} has different batch length "
                f"than others. Lengths are {lengths}."
            )
    # Name by name, in loops of little Python: this is most of the time that a small model takes.
    examples: list[dict[str, Any]] = [{} for _ in range(expected)]
    for name, values in batch.items():
        for example, value in zip(examples, values, strict=True):
            example[name] = value
    return examples
