"""The estimators of `tf.contrib.learn`: those of `tf.estimator` with `fit` and arrays as input."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

import estimator_train.compat.v1 as v1
from estimator_train.engine.arguments import argument_names
from estimator_train.legacy.contrib.layers.columns import ONLY_FEATURE, real_valued_column
from estimator_train.training.extenders import add_metrics


class ModelFnOps(NamedTuple):
    """What a model_fn may return, by the names of EstimatorSpec.

    `output_alternatives` are pairs of ProblemType and tensors, by the names of signatures.
    """

    mode: str
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metric_ops: Any = None
    output_alternatives: Any = None
    training_chief_hooks: Sequence[Any] | None = None
    training_hooks: Sequence[Any] | None = None
    scaffold: Any = None


class MetricSpec:
    """A metric of an evaluation.

    Args:
      metric_fn: Function of labels, predictions and maybe weights.
      prediction_key: Which of the predictions; None: all there is.
      label_key: Which of the labels; None: all there is.
      weight_key: The feature with the weights.
    """

    def __init__(
        self,
        metric_fn: Callable[..., Any],
        prediction_key: str | None = None,
        label_key: str | None = None,
        weight_key: str | None = None,
    ) -> None:
        self.metric_fn = metric_fn
        self.prediction_key, self.label_key = prediction_key, label_key
        self.weight_key = weight_key

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """The metric's value and its update."""
        arguments = {
            "labels": labels[self.label_key] if self.label_key else labels,
            "predictions": predictions[self.prediction_key] if self.prediction_key else predictions,
        }
        if self.weight_key:
            arguments["weights"] = inputs[self.weight_key]
        return self.metric_fn(**arguments)


class _Learning(v1.Estimator):
    """Trains, evaluates and predicts from input functions or arrays, by the names of 2017."""

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
          monitors: Hooks.
          max_steps: The step to train to.
        """
        hooks = [m for m in monitors or () if isinstance(m, tf.compat.v1.train.SessionRunHook)]
        source = _input(x, y, input_fn, batch_size, None)
        return self.train(source, hooks, steps, max_steps)

    def partial_fit(self, x: Any = None, y: Any = None, **arguments: Any) -> Any:
        """Trains on; see `fit`."""
        return self.fit(x, y, **arguments)

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
        source = _input(x, y, input_fn, batch_size, 1)
        estimator: Any = _with_metrics(self, metrics) if metrics else super()
        return estimator.evaluate(source, steps, hooks, checkpoint_path, name)

    def predict(  # type: ignore[override]
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
        **arguments: Any,
    ) -> Any:
        """Predicts, example by example; `outputs` are the keys to give, all by default."""
        source, input_fn = (None, x) if callable(x) else (x, input_fn)
        found = super().predict(
            _input(source, None, input_fn, batch_size, 1), predict_keys=outputs, **arguments
        )
        return found if as_iterable else list(found)

    def predict_classes(self, x: Any = None, as_iterable: bool = True, **arguments: Any) -> Any:
        """The class number of each example."""
        found = (int(p["class_ids"][0]) for p in self.predict(x, **arguments))
        return found if as_iterable else np.array(list(found))

    def predict_proba(self, x: Any = None, as_iterable: bool = True, **arguments: Any) -> Any:
        """The probabilities of the classes of each example."""
        found = (p["probabilities"] for p in self.predict(x, **arguments))
        return found if as_iterable else np.array(list(found))

    def predict_scores(self, x: Any = None, as_iterable: bool = True, **arguments: Any) -> Any:
        """The number that a regressor gives each example."""
        found = (p["predictions"][0] for p in self.predict(x, **arguments))
        return found if as_iterable else np.array(list(found))


class Estimator(_Learning):
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
            return _spec(model_fn(features, labels, **given), mode)

        super().__init__(modern, model_dir, config, params)


class SKCompat:
    """An estimator that takes arrays alone, as those of scikit-learn.

    Args:
      estimator: The estimator.
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(
        self, x: Any, y: Any, batch_size: int = 128, steps: int | None = None, **kw: Any
    ) -> Any:
        """Trains; returns itself."""
        self._estimator.fit(x, y, batch_size=batch_size, steps=steps, **kw)
        return self

    def score(self, x: Any, y: Any, batch_size: int = 128, **arguments: Any) -> Any:
        """Evaluates."""
        return self._estimator.evaluate(x, y, batch_size=batch_size, **arguments)

    def predict(self, x: Any, batch_size: int = 128, outputs: Any = None) -> dict[str, np.ndarray]:
        """The predictions of all examples, by their keys."""
        found = list(self._estimator.predict(x, batch_size=batch_size, outputs=outputs))
        return {key: np.array([p[key] for p in found]) for key in found[0]} if found else {}


class DNNClassifier(_Learning, v1.DNNClassifier):
    """See `tf.estimator.DNNClassifier`."""


class DNNRegressor(_Learning, v1.DNNRegressor):
    """See `tf.estimator.DNNRegressor`."""


class DNNEstimator(_Learning, v1.DNNEstimator):
    """See `tf.estimator.DNNEstimator`."""


class LinearClassifier(_Learning, v1.LinearClassifier):
    """See `tf.estimator.LinearClassifier`."""


class LinearRegressor(_Learning, v1.LinearRegressor):
    """See `tf.estimator.LinearRegressor`."""


class DNNLinearCombinedClassifier(_Learning, v1.DNNLinearCombinedClassifier):
    """See `tf.estimator.DNNLinearCombinedClassifier`."""


class DNNLinearCombinedRegressor(_Learning, v1.DNNLinearCombinedRegressor):
    """See `tf.estimator.DNNLinearCombinedRegressor`."""


def infer_real_valued_columns_from_input(x: Any) -> list[Any]:
    """The columns of an array of features, shape (examples, features)."""
    return [real_valued_column("", dimension=int(np.shape(x)[1]))]


def _input(
    x: Any, y: Any, input_fn: Callable[[], Any] | None, batch_size: int | None, epochs: int | None
) -> Callable[[], Any]:
    if input_fn is not None:
        return lambda: _named(input_fn())
    features = x if isinstance(x, Mapping) else {ONLY_FEATURE: np.asarray(x)}
    count = len(next(iter(features.values())))
    return v1.inputs.numpy_input_fn(
        dict(features), y, batch_size or count, epochs, shuffle=epochs is None
    )


def _named(given: Any) -> Any:
    """The input, its features with a name where they have none."""
    if not isinstance(given, tuple):
        return given
    features, labels = given
    return ({ONLY_FEATURE: features} if tf.is_tensor(features) else features), labels


def _with_metrics(estimator: Any, metrics: Mapping[Any, Any]) -> Any:
    def metric_fn(features: Any, labels: Any, predictions: Any) -> dict[str, Any]:
        return {
            name: spec.create_metric_ops(features, labels, predictions)
            for name, spec in metrics.items()
        }

    return add_metrics(estimator, metric_fn)


def _spec(returned: Any, mode: str) -> Any:
    if isinstance(returned, v1.EstimatorSpec):
        return returned
    if not isinstance(returned, ModelFnOps):
        predictions, loss, train_op = returned
        return v1.EstimatorSpec(mode, predictions, loss, train_op)
    outputs: dict[str, Any] = {}
    for key, (_, output) in (returned.output_alternatives or {}).items():
        outputs[key] = v1.export.PredictOutput(output)
    return v1.EstimatorSpec(
        mode,
        returned.predictions,
        returned.loss,
        returned.train_op,
        returned.eval_metric_ops,
        outputs or None,
        training_chief_hooks=tuple(returned.training_chief_hooks or ()),
        training_hooks=tuple(returned.training_hooks or ()),
        scaffold=returned.scaffold,
    )
