"""The estimators of `tf.contrib.learn`: those of `tf.estimator` with `fit` and arrays as input."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train.compat.v1 as v1
from estimator_train.engine.user_functions import argument_names
from estimator_train.legacy.contrib.layers.columns import ONLY_FEATURE
from estimator_train.legacy.contrib.learn.model_fns import MetricSpec, specification
from estimator_train.legacy.contrib.learn.monitors import replace_monitors_with_hooks
from estimator_train.legacy.contrib.learn.run_config import RunConfig
from estimator_train.training.extenders import add_metrics


class NotFittedError(ValueError, AttributeError):
    """An estimator is to evaluate or predict that was never trained."""


class Learning(v1.Estimator):
    """Trains, evaluates and predicts from input functions or arrays, by the names of 2017."""

    _feature_engineering_fn: Callable[..., Any] | None = None
    _by_columns = False  # Whether features are looked up by names, and one alone gets one.

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
        max_steps: int | None = None,
    ) -> Any:
        """Trains; returns itself.

        Args:
          x: Features, if there is no input_fn: an array, or a dict of arrays.
          y: Labels of these.
          input_fn: The input.
          steps: Steps to train.
          batch_size: Examples in a batch of x; by default all.
          monitors: Monitors and hooks.
          max_steps: The step to train to.
        """
        hooks = replace_monitors_with_hooks(monitors, self)
        source = self._source(x, y, input_fn, batch_size, None)
        return self.train(source, hooks, steps, max_steps)

    def partial_fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        steps: int | None = 1,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
    ) -> Any:
        """Trains on; see `fit`."""
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def evaluate(  # type: ignore[override]
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        feed_fn: Any = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Mapping[Any, Any] | None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Sequence[Any] | None = None,
        log_progress: bool = True,
    ) -> Any:
        """Evaluates; metrics are MetricSpecs by their names, the rest is as for `fit`."""
        del feed_fn, log_progress
        if callable(x):  # As an Estimator of tf.estimator is called.
            x, y, input_fn, steps = None, None, x, y
        source = self._source(x, y, input_fn, batch_size, 1)
        self._check_fitted(checkpoint_path)
        estimator: Any = self._with_metrics(metrics) if metrics else super()
        found = estimator.evaluate(source, steps, hooks, checkpoint_path, name)
        return self._reported(found, metrics or ())

    def predict(  # type: ignore[override]
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
        **arguments: Any,
    ) -> Any:
        """Predicts, example by example.

        Args:
          x: Features, as for `fit`.
          input_fn: The input.
          batch_size: Examples in a batch of x; by default all.
          outputs: The keys to give, as dicts; by default all.
          as_iterable: Whether examples come one by one, and not as one array or dict of arrays.
          **arguments: Further ones of `tf.estimator.Estimator.predict`.

        Raises:
          ValueError: There are no such outputs.
        """
        x, input_fn = (None, x) if callable(x) else (x, input_fn)
        source = self._source(x, None, input_fn, batch_size, 1)
        self._check_fitted(arguments.get("checkpoint_path"))
        found = self._chosen(super().predict(_once(source), **arguments), outputs)
        return found if as_iterable else _stacked(list(found))

    def _check_fitted(self, checkpoint_path: str | None) -> None:
        if checkpoint_path is None and self.latest_checkpoint() is None:
            raise NotFittedError(f"Couldn't find trained model at {self.model_dir}.")

    def predict_all(self, x: Any, batch_size: int | None = None, outputs: Any = None) -> Any:
        """All outputs of all examples together, or those of some keys."""
        return self.predict(x, batch_size=batch_size, outputs=outputs, as_iterable=False)

    def _chosen(self, predictions: Iterator[Any], outputs: Any) -> Iterator[Any]:
        """The outputs that were asked for."""
        for one in predictions:
            yield {key: one[key] for key in _known(outputs, one)} if outputs else one

    def _reported(self, results: Any, metrics: Any) -> Any:
        """What an evaluation returns; `metrics` has the names that the caller gave."""
        return results

    def _predictions(self, predictions: Any) -> Any:
        """What metrics see of the predictions of a batch."""
        return predictions

    def _source(
        self,
        x: Any,
        y: Any,
        input_fn: Callable[[], Any] | None,
        batch_size: int | None,
        epochs: int | None,
    ) -> Callable[[], Any]:
        given = _input(x, y, input_fn, batch_size, epochs, self._by_columns)
        engineer = self._feature_engineering_fn
        if engineer is None:
            return given

        def engineered() -> Any:
            found = given()
            return engineer(*found) if isinstance(found, tuple) else engineer(found, None)

        return engineered

    def _with_metrics(self, metrics: Mapping[Any, Any]) -> Any:
        def metric_fn(features: Any, labels: Any, predictions: Any) -> dict[str, Any]:
            seen = self._predictions(predictions)
            return {
                name: spec.create_metric_ops(features, labels, seen)
                for name, spec in map(_named_metric, metrics.items())
            }

        return add_metrics(self, metric_fn)


class Estimator(Learning):
    """An estimator whose model_fn may return ModelFnOps, or predictions, loss and train_op.

    Args:
      model_fn: The model_fn.
      model_dir: The directory.
      config: The configuration.
      params: What model_fn gets as `params`.
      feature_engineering_fn: Function of features and labels that returns others.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: str | None = None,
        config: Any = None,
        params: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ) -> None:
        wanted = argument_names(model_fn)

        def modern(features: Any, labels: Any, mode: str, params: Any, config: Any) -> Any:
            if feature_engineering_fn is not None:
                features, labels = feature_engineering_fn(features, labels)
            available = {"mode": mode, "params": params, "config": config}
            given = {name: available[name] for name in wanted if name in available}
            return specification(model_fn(features, labels, **given), mode)

        super().__init__(modern, model_dir, configured(config), params)


class DNNEstimator(Learning, v1.DNNEstimator):
    """See `tf.estimator.DNNEstimator`."""

    _by_columns = True


def _input(
    x: Any,
    y: Any,
    input_fn: Callable[[], Any] | None,
    batch_size: int | None,
    epochs: int | None,
    by_columns: bool,
) -> Callable[[], Any]:
    if input_fn is not None:
        if x is not None or y is not None:
            raise ValueError("Can not provide both input_fn and x or y.")
        return (lambda: _named(input_fn())) if by_columns else input_fn
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    features = x if isinstance(x, Mapping) else np.asarray(x)
    features = _named(features) if by_columns else features
    count = len(tf.nest.flatten(features)[0])
    slices = features if y is None else (features, np.asarray(y))

    def batches() -> tf.data.Dataset:
        data = tf.data.Dataset.from_tensor_slices(slices)
        data = data.shuffle(count) if epochs is None else data
        return data.batch(batch_size or count).repeat(epochs)

    return batches


def _named(given: Any) -> Any:
    """The input, its features with a name where they have none."""
    if isinstance(given, tf.data.Dataset):
        return given
    features, labels = given if isinstance(given, tuple) else (given, None)
    features = features if isinstance(features, Mapping) else {ONLY_FEATURE: features}
    return (features, labels) if isinstance(given, tuple) else features


def _once(source: Callable[[], Any]) -> Callable[[], Any]:
    """The input for predictions: values that nothing is read for are one batch, and not endless."""

    def given() -> Any:
        found = source()
        if isinstance(found, tf.data.Dataset):
            return found
        kinds = {operation.type for operation in tf.compat.v1.get_default_graph().get_operations()}
        if any("Iterator" in kind or "Dequeue" in kind for kind in kinds):
            return found
        return tf.data.Dataset.from_tensors(found[0] if isinstance(found, tuple) else found)

    return given


def configured(config: Any) -> Any:
    """The configuration, its sessions' options where the RunConfig of contrib.learn has them."""
    if isinstance(config, RunConfig) and config.session_config is None:
        return config.replace(session_config=config.tf_config)
    return config


def _named_metric(item: tuple[Any, Any]) -> tuple[str, MetricSpec]:
    """Name and MetricSpec; a name may be a pair with the prediction's key, a spec a function."""
    name, spec = item
    name, key = name if isinstance(name, tuple) else (name, None)
    return name, spec if isinstance(spec, MetricSpec) else MetricSpec(spec, key)


def _known(outputs: Sequence[str], prediction: Mapping[str, Any]) -> list[str]:
    found = [key for key in prediction if key in outputs]
    if not found:
        raise ValueError(f"No such outputs: {outputs}. There are: {list(prediction)}")
    return found


def _stacked(found: list[Any]) -> Any:
    if found and isinstance(found[0], dict):
        return {key: np.array([one[key] for one in found]) for key in found[0]}
    return np.array(found)
