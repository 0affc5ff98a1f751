"""Predictors of Estimators, which can follow the latest checkpoint of a model_dir."""

import dataclasses
import os
import threading
from collections.abc import Callable, Hashable, Mapping
from types import SimpleNamespace
from typing import Any, Protocol, TypeAlias

import tensorflow as tf

from estimator_train.engine.checkpoints import warm_start
from estimator_train.engine.checkpoints.integrity import compute_fingerprint, latest_checkpoint
from estimator_train.engine.checkpoints.reading import (
    log_untrained,
    retry_on_deleted_checkpoint,
    warn_of_reordered_crosses,
)
from estimator_train.engine.graph.step_graph import call_model_fn, open_model_graph
from estimator_train.engine.job import Job
from estimator_train.engine.sessions.open_model import open_restored_session
from estimator_train.engine.sessions.session import make_session_config
from estimator_train.engine.storage import (
    MISSING_ERRORS,
    StorageFaultError,
    allow_single_attempt,
)
from estimator_train.estimator_spec import EstimatorSpec, ModeKeys
from estimator_train.export.receivers import Receiver, ReceiverFn
from estimator_train.export.signatures import make_signatures
from estimator_train.predictor.base import Batch, Predictor, make_placeholder
from estimator_train.predictor.saved_model import DEFAULT_KEY

_LOG = tf.get_logger()
_SINGLE = "features"  # Name of an input or output that has no name.

_PREDICTOR_ATTRIBUTES = ("session", "graph", "feed_tensors", "fetch_tensors")

Outputs: TypeAlias = tf.Tensor | Mapping[str, tf.Tensor]
GetOutputs: TypeAlias = Callable[[EstimatorSpec, Receiver], Outputs]


class _HasContext(Protocol):
    """An Estimator, whose module imports this one."""

    @property
    def model_dir(self) -> str: ...

    def _make_job(self, mode: str | None) -> Job: ...

    def _prepare_checkpoints(self) -> None: ...


@dataclasses.dataclass(frozen=True)
class _Model:
    """Graph of a model, with the tensors to feed and to fetch."""

    graph: tf.Graph
    scaffold: tf.compat.v1.train.Scaffold
    feeds: Mapping[str, tf.Tensor]
    fetches: Outputs


class EstimatorPredictor:
    """Predictor that builds and loads the model of an Estimator once, for any number of calls.

    Several threads may call it at the same time. `estimator.predictor()` returns one. It is a
    context manager.

    Args:
      job: The call of the Estimator.
      serving_input_receiver_fn: Function that returns a receiver for the inputs, as for
        `export_saved_model`. By default the inputs are the features, and the first batch
        determines their names, dtypes and shapes.
      get_outputs: Function from the model's EstimatorSpec and the receiver to the tensors to
        compute.
      checkpoint_path: The checkpoint; by default the latest.
      reload: Whether to load newer checkpoints as soon as they are written.
    """

    def __init__(
        self,
        job: Job,
        serving_input_receiver_fn: ReceiverFn | None,
        get_outputs: GetOutputs,
        checkpoint_path: str | None = None,
        reload: bool = False,
    ) -> None:
        if reload and checkpoint_path:
            raise ValueError(
                f"reload=True follows the latest checkpoint of model_dir, so checkpoint_path must "
                f"be None, but got {checkpoint_path}."
            )
        self._job = job
        self._get_outputs = get_outputs
        self._reload = reload
        self._lock = threading.Lock()
        self._is_closed = False
        self._model: _Model | None = None
        self._predictor: Predictor | None = None
        self._fixed_path = os.fsdecode(checkpoint_path) if checkpoint_path else None
        self._path = self._fixed_path or latest_checkpoint(job.model_dir)
        log_untrained(job.model_dir, self._path, "predict")
        self._state: Hashable = None
        self._state = self._get_model_dir_state()
        self._has_receiver = serving_input_receiver_fn is not None
        if serving_input_receiver_fn is not None:
            self._open(self._build(serving_input_receiver_fn))

    @property
    def checkpoint_path(self) -> str | None:
        """The loaded checkpoint; None if the variables were initialized instead."""
        return self._path

    def __getattr__(self, name: str) -> Any:
        # Old programs read the session and its tensors from the predictor.
        if name in _PREDICTOR_ATTRIBUTES and self._predictor is not None:
            return getattr(self._predictor, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def predict(self, batch: Batch) -> Any:
        """Computes the predictions for one batch.

        Args:
          batch: The features of model_fn: an array or nested list, or a dict of arrays or lists,
            with the batch as first dimension. With a serving_input_receiver_fn, the receiver's
            tensors.

        Returns:
          The predictions of model_fn: a dict of NumPy values, or a single value.

        Raises:
          ValueError: The names or shapes of the batch do not match the model, or the predictor is
            closed.
        """
        predictor = self._get_predictor(batch)
        assert self._model is not None
        outputs = predictor.predict(batch)
        return outputs if isinstance(self._model.fetches, Mapping) else outputs[_SINGLE]

    __call__ = predict

    def close(self) -> None:
        """Releases the model."""
        with self._lock:
            self._is_closed = True
            if self._predictor is not None:
                self._predictor.close()

    def __enter__(self) -> "EstimatorPredictor":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _get_predictor(self, batch: Batch) -> Predictor:
        """Returns the predictor; the first batch opens it, a new checkpoint replaces it."""
        if self._needs_model_for(batch):
            with self._lock:
                if not self._is_closed and self._needs_model_for(batch):
                    self._open(self._build_for_batch(batch))
        predictor = self._predictor
        if self._is_closed or predictor is None:
            raise ValueError("This predictor is closed; open another one for further batches.")
        return self._reload_if_newer(predictor) if self._reload else predictor

    def _needs_model_for(self, batch: Batch) -> bool:
        """Returns whether there is no model, or it has a batch's features in another order."""
        if self._predictor is None or self._model is None:
            return True
        if self._has_receiver or not isinstance(batch, Mapping):
            return False
        names = list(self._model.feeds)
        return list(batch) != names and set(batch) == set(names)

    def _build_for_batch(self, batch: Batch) -> _Model:
        def make_receiver() -> Receiver:
            if not isinstance(batch, Mapping):
                tensor = make_placeholder(batch)
                return SimpleNamespace(features=tensor, receiver_tensors={_SINGLE: tensor})
            tensors = {name: make_placeholder(value) for name, value in batch.items()}
            return SimpleNamespace(features=dict(tensors), receiver_tensors=tensors)

        return self._build(make_receiver)

    def _build(self, serving_input_receiver_fn: ReceiverFn) -> _Model:
        job = self._job
        with open_model_graph(job) as graph:
            job.create_global_step(graph)
            receiver = serving_input_receiver_fn()
            feeds = receiver.receiver_tensors
            spec = call_model_fn(job, receiver.features, None, ModeKeys.PREDICT)
            if job.warm_start:
                warm_start.apply(job.warm_start, self._path)
            return _Model(graph, spec.scaffold, feeds, self._get_outputs(spec, receiver))

    def _open(self, model: _Model) -> None:
        def restore(path: str | None) -> tuple[str | None, tf.compat.v1.Session]:
            settings = make_session_config(self._job)
            warn_of_reordered_crosses(model.graph, path, "predictor")
            return path, open_restored_session(model.graph, model.scaffold, settings, path)

        if self._fixed_path or self._path is None:
            session = restore(self._path)[1]
        else:
            self._path, session = retry_on_deleted_checkpoint(
                self._job.model_dir, restore, self._path
            )
        fetches = model.fetches if isinstance(model.fetches, Mapping) else {_SINGLE: model.fetches}
        self._model = model
        self._predictor = Predictor(session, model.feeds, fetches)

    def _get_model_dir_state(self) -> Hashable:
        """Returns a fingerprint that changes when a checkpoint is written."""
        try:
            return compute_fingerprint(f"{self._job.model_dir}/checkpoint")
        except MISSING_ERRORS:
            return None
        except (tf.errors.OpError, OSError):  # The storage fails: keep the loaded checkpoint.
            return self._state

    def _reload_if_newer(self, predictor: Predictor) -> Predictor:
        """Returns a predictor of a newer checkpoint if there is one; otherwise `predictor`."""
        if self._get_model_dir_state() == self._state:
            return predictor
        with self._lock:
            state = self._get_model_dir_state()
            if state == self._state or self._is_closed:
                return predictor
            old_state, self._state = self._state, state
            old_path = self._path
            assert self._model is not None
            try:
                with allow_single_attempt():
                    path = latest_checkpoint(self._job.model_dir)
                    if path is None or path == old_path:
                        return predictor
                    self._path = path
                    # The old session closes after the calls that still use it.
                    self._open(self._model)
                _LOG.info("Predicting from %s.", self._path)
            except (tf.errors.OpError, ValueError, StorageFaultError) as error:
                self._path = old_path
                if isinstance(error, StorageFaultError):
                    self._state = old_state  # The next call tries again.
                _LOG.warning(
                    "Could not load a newer checkpoint; still predicting from %s: %s",
                    old_path,
                    error,
                )
            assert self._predictor is not None
            return self._predictor


def from_estimator(
    estimator: _HasContext,
    serving_input_receiver_fn: ReceiverFn,
    output_key: str | None = None,
    graph: tf.Graph | None = None,
    config: tf.compat.v1.ConfigProto | None = None,
) -> EstimatorPredictor:
    """Opens the latest checkpoint of an Estimator, with the inputs and outputs of its export.

    Args:
      estimator: The Estimator.
      serving_input_receiver_fn: As for `export_saved_model`.
      output_key: Key of the export_outputs to compute; the default output by default.
      graph: Not used, because the model always gets a new graph.
      config: Configuration of the session; the Estimator's by default.

    Returns:
      A predictor, which is also a context manager that closes it.

    Raises:
      ValueError: There is no checkpoint, or the output does not exist; the latter error is also a
        KeyError.
    """
    if latest_checkpoint(estimator.model_dir) is None:
        raise ValueError(f"Couldn't find trained model at {estimator.model_dir}.")
    return open_estimator(
        estimator, serving_input_receiver_fn, make_output_getter(output_key), config
    )


def open_estimator(
    estimator: _HasContext,
    serving_input_receiver_fn: ReceiverFn,
    get_outputs: GetOutputs,
    config: tf.compat.v1.ConfigProto | None,
) -> EstimatorPredictor:
    """Opens an Estimator, trained or not; `EstimatorPredictor` describes the arguments."""
    estimator._prepare_checkpoints()
    job = estimator._make_job(None)
    if config is not None:
        job = dataclasses.replace(job, config=job.config.replace(session_config=config))
    return EstimatorPredictor(job, serving_input_receiver_fn, get_outputs)


class UnknownOutputError(KeyError, ValueError):
    """A model has no output with a key."""

    __str__ = Exception.__str__  # A KeyError shows its text in quotes.


def make_output_getter(output_key: str | None) -> GetOutputs:
    """Returns the function that finds the outputs of a key of the export_outputs."""

    def get_outputs(spec: EstimatorSpec, receiver: Receiver) -> dict[str, tf.Tensor]:
        signatures = make_signatures(spec, receiver)
        key = output_key or DEFAULT_KEY
        if key not in signatures:
            raise UnknownOutputError(
                f'Got output_key "{key}". The model\'s outputs are {sorted(signatures)}. '
                "output_key chooses one of them."
            )
        graph = tf.compat.v1.get_default_graph()
        outputs = signatures[key].outputs
        return {name: graph.get_tensor_by_name(info.name) for name, info in outputs.items()}

    return get_outputs
