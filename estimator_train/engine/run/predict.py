"""Prediction: a generator over the predictions for an input."""

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.engine.checkpoints import warm_start
from estimator_train.engine.graph.step_graph import call_model_fn, open_model_graph
from estimator_train.engine.inputs.data_errors import explain_data_error
from estimator_train.engine.inputs.input_fn import Inputs, make_inputs
from estimator_train.engine.inputs.start import starts_endless
from estimator_train.engine.job import Job
from estimator_train.engine.sessions.model_call import ModelCall, open_call
from estimator_train.engine.sessions.open_model import BuiltModel, ModelRequest
from estimator_train.engine.tf_internals.sessions import shorten_errors
from estimator_train.engine.types import Hook, InputFn, Predictions, PredictKeys
from estimator_train.estimator_spec import ModeKeys

_LOG = tf.get_logger()
_SHORT_SECS = 1e-3
_ENDLESS = (
    "The predictions do not end: the dataset of input_fn (%s) repeats for ever. Use a dataset with "
    "one pass over the rows, or stop reading."
)
_SCALAR = (
    "{} has no batch dimension: its value is {!r}. Give it one value an example in model_fn, or "
    "call predict with yield_single_examples=False."
)


@dataclasses.dataclass(frozen=True)
class _Prediction(ModelRequest[Predictions]):
    """One call of `predict`."""

    mode = ModeKeys.PREDICT
    purpose = "predict"
    predict_keys: PredictKeys

    def build(self, checkpoint_path: str | None) -> BuiltModel[Predictions]:
        job = self.job
        with open_model_graph(job) as graph:
            job.create_global_step(graph)
            inputs = make_inputs(job, self.input_fn, ModeKeys.PREDICT)
            _warn_if_endless(inputs)
            spec = call_model_fn(job, inputs.features, None, ModeKeys.PREDICT)
            if job.warm_start:
                warm_start.apply(job.warm_start, checkpoint_path)
            # A wrong key raises before a session opens.
            select_predictions(spec.predictions, self.predict_keys)
            return BuiltModel(graph, inputs, spec.scaffold, spec.prediction_hooks, spec.predictions)


def predict(
    job: Job,
    input_fn: InputFn,
    predict_keys: PredictKeys,
    hooks: Sequence[Hook],
    checkpoint_path: str | None,
    yield_single_examples: bool,
) -> Iterator[Any]:
    """Yields predictions until the input ends.

    Args:
      job: The call of the Estimator.
      input_fn: The user's input_fn; its labels, if any, are ignored.
      predict_keys: Names of the predictions to compute; all by default.
      hooks: Hooks of the caller.
      checkpoint_path: The checkpoint; by default the latest.
      yield_single_examples: Whether to yield examples one by one or batches.
    """
    request = _Prediction(job, input_fn, hooks, job.config.master, None, predict_keys)
    with shorten_errors(explain_data_error), open_call(request, checkpoint_path) as call:
        if starts_endless(call.model.inputs.initializer):
            _LOG.warning(_ENDLESS, input_fn)
        predictions = select_predictions(call.model.fetches, predict_keys)
        batches = _Batches(call, predictions)
        while not call.session.should_stop():
            batch = batches.next()
            if yield_single_examples:
                yield from _split_examples(batch)
            else:
                yield batch


class _Batches:
    """Predictions of one batch after another.

    If a batch takes less than a millisecond, this thread runs the operations: to hand them to other
    threads would take longer than the operations.
    """

    def __init__(self, call: ModelCall[Predictions], predictions: Any) -> None:
        self._session: Any = call.session
        self._graph = call.model.graph
        self._predictions = predictions
        self._call: Callable[..., list[Any]] | None = None
        are_named = isinstance(predictions, dict)
        self._names = list(predictions) if are_named else None
        self._tensors = list(predictions.values()) if are_named else [predictions]
        self._can_be_short = call.raw_session is not None and all(
            isinstance(tensor, tf.Tensor) for tensor in self._tensors
        )

    def next(self) -> Any:
        """Returns the values of the next batch, structured as the predictions."""
        if self._call is not None:
            found = self._call()
            return found[0] if self._names is None else dict(zip(self._names, found, strict=True))
        start = time.perf_counter()
        with self._graph.as_default():  # Hooks find it as the default graph.
            values = self._session.run(self._predictions)
        if self._can_be_short and time.perf_counter() - start < _SHORT_SECS:
            self._call = self._session.make_short_call(self._tensors)
        return values


def _warn_if_endless(inputs: Inputs) -> None:
    queues = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS)
    iterators = tf.compat.v1.get_collection("iterators")
    if not (inputs.iterator or queues or iterators):
        _LOG.warning(
            "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means "
            "predict yields forever. This is probably a mistake."
        )


def select_predictions(predictions: Any, keys: PredictKeys) -> Any:
    """Returns the predictions with the given names.

    Args:
      predictions: The predictions of model_fn.
      keys: Names of predictions; all by default.

    Raises:
      ValueError: Keys are given and predictions is not a dict, or contains no key.
    """
    if not keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    selected = {name: tensor for name, tensor in predictions.items() if name in keys}
    if not selected:
        raise ValueError(
            f"Expected to run at least one output from {predictions.keys()}, provided {keys}."
        )
    return selected


class ScalarPredictionError(ValueError, IndexError, TypeError):
    """Error for a prediction without a batch dimension.

    It has the types of the errors that Python raises for an index and an iteration of a scalar.
    """


def _split_examples(batch: Any) -> Sequence[Any]:
    """Returns the examples of a batch.

    Raises:
      ScalarPredictionError: A prediction has no first dimension.
      ValueError: Predictions of the batch differ in their first dimension.
    """
    if not isinstance(batch, dict):
        if isinstance(batch, (np.generic, np.ndarray)) and not batch.ndim:
            raise ScalarPredictionError(_SCALAR.format("The prediction", batch))
        return batch
    lengths = {}
    for name, values in batch.items():
        if not getattr(values, "ndim", 0):
            raise ScalarPredictionError(_SCALAR.format(f"Prediction '{name}'", values))
        lengths[name] = len(values)
    expected = next(iter(lengths.values()))
    for name, length in lengths.items():
        if length != expected:
            raise ValueError(
                f"Batch length of predictions should be same. {name} has different batch length "
                f"than others. Lengths are {lengths}. Give each one value an example in model_fn, "
                "leave some out with predict_keys, or call predict with "
                "yield_single_examples=False."
            )
    # The loop over names is outside: this code takes most of the time of a small model.
    examples: list[dict[str, Any]] = [{} for _ in range(expected)]
    for name, values in batch.items():
        for example, value in zip(examples, values, strict=True):
            example[name] = value
    return examples
