"""Predictors from Estimators: the model of a model_dir, kept up to date if asked."""

import dataclasses
import threading
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import tensorflow as tf

from estimator_train.engine.checkpoints import warm_start
from estimator_train.engine.checkpoints.integrity import latest_checkpoint, stamp
from estimator_train.engine.checkpoints.reading import note_untrained, with_latest
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.graph.step_graph import call_model_fn, model_graph
from estimator_train.engine.run.predict import chosen
from estimator_train.engine.sessions.session import restored_session, session_config
from estimator_train.estimator_spec.spec import EstimatorSpec, ModeKeys
from estimator_train.export.signatures import signatures_of
from estimator_train.predictor.base import Predictor
from estimator_train.predictor.batches import placeholder_like
from estimator_train.predictor.saved_model import DEFAULT_KEY

_LOG = tf.get_logger()
_SINGLE = "features"

_OF_PREDICTORS = ("session", "graph", "feed_tensors", "fetch_tensors")


@dataclasses.dataclass(frozen=True)
class _Model:
    """A model's graph: what a batch is fed to, and what it computes."""

    graph: tf.Graph
    scaffold: tf.compat.v1.train.Scaffold
    feeds: Mapping[str, tf.Tensor]
    fetches: Any


class EstimatorPredictor:
    """An Estimator's model that stays open: built and loaded once, then called any number of times.

    Several threads may call it at a time. `estimator.predictor()` makes one, a context manager.

    Args:
      context: The estimator that is run.
      serving_input_receiver_fn: Function that returns a receiver for what is fed, as for
        `export_saved_model`; by default features are fed as they are, and the model is built for
        the names, dtypes and shapes of the first batch.
      outputs: From the model's EstimatorSpec and receiver to the tensors that are computed.
      checkpoint_path: The checkpoint; by default the latest.
      reload: Whether to go over to a newer checkpoint as soon as there is one.
    """

    def __init__(
        self,
        context: EstimatorContext,
        serving_input_receiver_fn: Callable[[], Any] | None,
        outputs: Callable[[EstimatorSpec, Any], Any],
        checkpoint_path: str | None = None,
        reload: bool = False,
    ) -> None:
        if reload and checkpoint_path:
            raise ValueError(
                f"reload follows the latest checkpoint of model_dir, but checkpoint_path "
                f"({checkpoint_path}) fixes one: give only one of them."
            )
        self._context = context
        self._outputs = outputs
        self._reload = reload
        self._lock = threading.Lock()
        self._closed = False
        self._model: _Model | None = None
        self._predictor: Predictor | None = None
        self._fixed_path = checkpoint_path
        self._path = checkpoint_path or latest_checkpoint(context.model_dir)
        note_untrained(context.model_dir, self._path, "predict")
        self._state = self._state_of_model_dir()
        if serving_input_receiver_fn is not None:
            self._open(self._build(serving_input_receiver_fn))

    @property
    def checkpoint_path(self) -> str | None:
        """The checkpoint that is loaded; None where variables were initialized."""
        return self._path

    def __getattr__(self, name: str) -> Any:
        # Old programs take the session and its tensors from a predictor of an Estimator too.
        if name in _OF_PREDICTORS and self._predictor is not None:
            return getattr(self._predictor, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def predict(self, batch: Any) -> Any:
        """Computes the predictions for one batch.

        Args:
          batch: What model_fn takes as features: an array or nested list, or a dict of them, with
            the batch as first dimension. With a serving_input_receiver_fn, what its receiver takes.

        Returns:
          NumPy values as model_fn's predictions are: a dict of them, or one.

        Raises:
          ValueError: The batch has other names or shapes than the model takes, or the predictor is
            closed.
        """
        predictor = self._current(batch)
        assert self._model is not None
        found = predictor.predict(batch)
        return found if isinstance(self._model.fetches, Mapping) else found[_SINGLE]

    __call__ = predict

    def close(self) -> None:
        """Releases the model."""
        with self._lock:
            self._closed = True
            if self._predictor is not None:
                self._predictor.close()

    def __enter__(self) -> "EstimatorPredictor":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _current(self, batch: Any) -> Predictor:
        predictor = self._predictor
        if predictor is None:
            with self._lock:
                if self._predictor is None and not self._closed:
                    self._open(self._build_like(batch))
                predictor = self._predictor
        if self._closed or predictor is None:
            raise ValueError("This predictor is closed; open another one for further batches.")
        return self._reloaded(predictor) if self._reload else predictor

    def _build_like(self, batch: Any) -> _Model:
        def receives_as_is() -> Any:
            if not isinstance(batch, Mapping):
                tensor = placeholder_like(batch)
                return SimpleNamespace(features=tensor, receiver_tensors={_SINGLE: tensor})
            tensors = {name: placeholder_like(value) for name, value in batch.items()}
            return SimpleNamespace(features=dict(tensors), receiver_tensors=tensors)

        return self._build(receives_as_is)

    def _build(self, serving_input_receiver_fn: Callable[[], Any]) -> _Model:
        context = self._context
        with model_graph(context) as graph:
            tf.compat.v1.train.create_global_step()
            receiver = serving_input_receiver_fn()
            feeds = receiver.receiver_tensors
            spec = call_model_fn(context, receiver.features, None, ModeKeys.PREDICT)
            if context.warm_start:
                warm_start.apply(context.warm_start, self._path)
            return _Model(graph, spec.scaffold, feeds, self._outputs(spec, receiver))

    def _open(self, model: _Model) -> None:
        def restored(path: str | None) -> tuple[str | None, tf.compat.v1.Session]:
            settings = session_config(self._context)
            return path, restored_session(model.graph, model.scaffold, settings, path)

        if self._fixed_path or self._path is None:
            session = restored(self._path)[1]
        else:
            self._path, session = with_latest(self._context.model_dir, restored, self._path)
        fetches = model.fetches if isinstance(model.fetches, Mapping) else {_SINGLE: model.fetches}
        self._model = model
        self._predictor = Predictor(session, model.feeds, fetches)

    def _state_of_model_dir(self) -> Any:
        """What changes whenever a checkpoint is written."""
        try:
            return stamp(f"{self._context.model_dir}/checkpoint")
        except (tf.errors.NotFoundError, FileNotFoundError):
            return None

    def _reloaded(self, predictor: Predictor) -> Predictor:
        """The predictor of the latest checkpoint: the one in use unless a newer one was written."""
        if self._state_of_model_dir() == self._state:
            return predictor
        with self._lock:
            state = self._state_of_model_dir()
            if state == self._state or self._closed:
                return predictor
            self._state = state
            before = self._path
            assert self._model is not None
            try:
                path = latest_checkpoint(self._context.model_dir)
                if path is None or path == before:
                    return predictor
                self._path = path
                # The previous session closes when the calls that still use it are done.
                self._open(self._model)
                _LOG.info("Predicting from %s.", self._path)
            except (tf.errors.OpError, ValueError) as error:
                self._path = before
                _LOG.warning(
                    "Could not load a newer checkpoint; still predicting from %s: %s", before, error
                )
            assert self._predictor is not None
            return self._predictor


def open_predictor(
    context: EstimatorContext,
    serving_input_receiver_fn: Callable[[], Any] | None,
    predict_keys: Sequence[str] | str | None,
    checkpoint_path: str | None,
    reload: bool,
) -> EstimatorPredictor:
    """What `Estimator.predictor` returns; its arguments are those."""
    return EstimatorPredictor(
        context,
        serving_input_receiver_fn,
        lambda spec, receiver: chosen(spec.predictions, predict_keys),
        checkpoint_path,
        reload,
    )


def from_estimator(
    estimator: Any,
    serving_input_receiver_fn: Callable[[], Any],
    output_key: str | None = None,
    graph: tf.Graph | None = None,
    config: tf.compat.v1.ConfigProto | None = None,
) -> EstimatorPredictor:
    """Opens the latest checkpoint of an Estimator, with the inputs and outputs of its export.

    Args:
      estimator: The Estimator.
      serving_input_receiver_fn: As for `export_saved_model`.
      output_key: Which of the model's export_outputs to compute; the default one by default.
      graph: Not used: the model has a graph of its own.
      config: Configuration of the session in place of the Estimator's.

    Returns:
      A predictor, which is also a context manager that closes it.

    Raises:
      ValueError: There is no checkpoint, or no such output.
    """
    del graph
    context: EstimatorContext = estimator._context()
    if latest_checkpoint(context.model_dir) is None:
        raise ValueError(f"Couldn't find trained model at {context.model_dir}.")
    if config is not None:
        context = dataclasses.replace(context, config=context.config.replace(session_config=config))

    def outputs(spec: EstimatorSpec, receiver: Any) -> dict[str, tf.Tensor]:
        signatures = signatures_of(spec, receiver)
        key = output_key or DEFAULT_KEY
        if key not in signatures:
            raise ValueError(
                f'Got output_key "{key}". The model\'s outputs are {sorted(signatures)}.'
            )
        found = tf.compat.v1.get_default_graph().get_tensor_by_name
        return {name: found(info.name) for name, info in signatures[key].outputs.items()}

    return EstimatorPredictor(context, serving_input_receiver_fn, outputs)
