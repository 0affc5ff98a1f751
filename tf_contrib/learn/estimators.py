"""Estimators of `tf.contrib.learn`: those of `tf.estimator` with `fit` and arrays as input."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train.compat.v1 as v1
from estimator_train import add_metrics
from estimator_train.extension import list_argument_names, warn_of_missing_params
from tf_contrib._types import Arrays, Features
from tf_contrib.learn.array_input import create_array_input_fn
from tf_contrib.learn.keys import ModeKeys
from tf_contrib.learn.model_fns import MetricSpec, to_estimator_spec
from tf_contrib.learn.monitors import replace_monitors_with_hooks
from tf_contrib.learn.run_config import RunConfig


class NotFittedError(ValueError, AttributeError):
    """Error for an evaluation or prediction of an estimator that was never trained."""


class LearnEstimator(v1.Estimator):
    """Base class of estimators that take input functions or arrays, with the methods of 2017."""

    _feature_engineering_fn: Callable[..., Any] | None = None
    # Key of the output alternative that is the default signature of a SavedModel.
    _default_alternative: str | None = None

    def _assert_members_are_not_overridden(self) -> None:
        """Accepts subclasses that override any member, as tf.contrib.learn does."""

    def fit(
        self,
        x: Arrays | None = None,
        y: Arrays | None = None,
        input_fn: Callable[[], Any] | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
        max_steps: int | None = None,
    ) -> Any:
        """Trains the estimator and returns it.

        Args:
          x: Features if there is no input_fn: an array or a dict of arrays.
          y: Labels of x.
          input_fn: Input function.
          steps: Number of steps to train.
          batch_size: Number of examples in a batch of x; by default all.
          monitors: Monitors and hooks.
          max_steps: Global step at which training ends.
        """
        hooks = replace_monitors_with_hooks(monitors, self)
        resolved_input_fn = self._create_input_fn(x, y, input_fn, batch_size, None)
        return self.train(resolved_input_fn, hooks, steps, max_steps)

    def partial_fit(
        self,
        x: Arrays | None = None,
        y: Arrays | None = None,
        input_fn: Callable[[], Any] | None = None,
        steps: int | None = 1,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
    ) -> Any:
        """Continues training; see `fit`."""
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def evaluate(  # type: ignore[override]
        self,
        x: Arrays | Callable[[], Any] | None = None,
        y: Arrays | None = None,
        input_fn: Callable[[], Any] | None = None,
        feed_fn: object = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Mapping[Any, Any] | None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Sequence[Any] | None = None,
        log_progress: bool = True,
    ) -> Any:
        """Evaluates a checkpoint; `metrics` are MetricSpecs by name. See `fit` for the input."""
        del feed_fn, log_progress
        if callable(x):  # The caller uses the signature of tf.estimator.
            steps = y if steps is None else steps  # type: ignore[assignment]
            x, y, input_fn = None, None, x
        resolved_input_fn = self._create_input_fn(x, y, input_fn, batch_size, 1)
        self._check_fitted(checkpoint_path)
        estimator: Any = self.add_metrics(metrics) if metrics else super()
        return estimator.evaluate(resolved_input_fn, steps, hooks, checkpoint_path, name)

    def predict(  # type: ignore[override]
        self,
        x: Arrays | Callable[[], Any] | None = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
        **arguments: Any,
    ) -> Any:
        """Predicts the outputs of each example.

        Args:
          x: Features, as for `fit`.
          input_fn: Input function.
          batch_size: Number of examples in a batch of x; by default all.
          outputs: Keys of the predictions to return; by default all.
          as_iterable: Whether to yield the predictions one by one instead of returning one array or
            dict of arrays.
          **arguments: Further arguments of `tf.estimator.Estimator.predict`.

        Raises:
          ValueError: No prediction has one of the keys.
        """
        x, input_fn = (None, x) if callable(x) else (x, input_fn)
        resolved_input_fn = self._create_input_fn(x, None, input_fn, batch_size, 1)
        self._check_fitted(arguments.get("checkpoint_path"))
        selected = self._select_outputs(
            super().predict(_limit_to_one_batch(resolved_input_fn), **arguments), outputs
        )
        return selected if as_iterable else _stack_predictions(list(selected))

    def export_savedmodel(  # type: ignore[override]
        self,
        export_dir_base: str,
        serving_input_fn: Callable[[], Any],
        default_output_alternative_key: str | None = None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        graph_rewrite_specs: object = None,
        strip_default_attrs: bool = False,
    ) -> Any:
        """Exports a SavedModel for serving.

        Arguments that are not listed are those of `tf.estimator.Estimator.export_saved_model`.

        Args:
          export_dir_base: Directory of the exports.
          serving_input_fn: Function that returns InputFnOps or a ServingInputReceiver.
          default_output_alternative_key: Key of the output alternative that is the default
            signature; required if the model has several.
          assets_extra: Files to copy.
          as_text: Whether the SavedModel is text.
          checkpoint_path: Checkpoint; by default the latest.
          graph_rewrite_specs: Unused.
          strip_default_attrs: Whether to strip default attributes.

        Returns:
          The path of the export.
        """
        del graph_rewrite_specs
        self._default_alternative = default_output_alternative_key
        try:
            return super().export_savedmodel(
                export_dir_base,
                serving_input_fn,
                assets_extra,
                as_text,
                checkpoint_path,
                strip_default_attrs,
            )
        finally:
            self._default_alternative = None

    def _check_fitted(self, checkpoint_path: str | None) -> None:
        if checkpoint_path is None and self.latest_checkpoint() is None:
            raise NotFittedError(f"Couldn't find trained model at {self.model_dir}.")

    def predict_all(
        self, x: Arrays, batch_size: int | None = None, outputs: Sequence[str] | None = None
    ) -> Any:
        """Returns the outputs of all examples as one dict, or those of some keys."""
        return self.predict(x, batch_size=batch_size, outputs=outputs, as_iterable=False)

    def _select_outputs(
        self, predictions: Iterator[Any], outputs: Sequence[str] | None
    ) -> Iterator[Any]:
        """Yields the requested outputs of each prediction."""
        for one in predictions:
            yield {key: one[key] for key in _check_outputs(outputs, one)} if outputs else one

    def _create_input_fn(
        self,
        x: Any,
        y: Arrays | None,
        input_fn: Callable[[], Any] | None,
        batch_size: int | None,
        epochs: int | None,
    ) -> Callable[[], Any]:
        plain_fn = create_array_input_fn(x, y, input_fn, batch_size, epochs)
        engineering_fn = self._feature_engineering_fn
        if engineering_fn is None:
            return plain_fn

        def engineered_fn() -> Any:
            batch = plain_fn()
            return (
                engineering_fn(*batch) if isinstance(batch, tuple) else engineering_fn(batch, None)
            )

        return engineered_fn

    def add_metrics(self, metrics: Mapping[Any, Any]) -> v1.Estimator:
        """Creates an estimator in the same directory that also evaluates MetricSpecs by name."""

        def metric_fn(
            features: Features, labels: Features, predictions: Features
        ) -> dict[str, Any]:
            return {
                name: spec.create_metric_ops(features, labels, predictions)
                for name, spec in map(_to_metric_spec, metrics.items())
            }

        return add_metrics(self, metric_fn)


class Estimator(LearnEstimator):
    """Estimator whose model_fn may return ModelFnOps, or predictions, loss and train_op.

    To predict, model_fn gets placeholders like the labels of the last training or evaluation.

    Args:
      model_fn: Model function.
      model_dir: Directory of the model.
      config: Settings of the run.
      params: Value of the argument `params` of model_fn.
      feature_engineering_fn: Function that converts features and labels.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: str | None = None,
        config: v1.RunConfig | None = None,
        params: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ) -> None:
        warn_of_missing_params(model_fn, params)
        accepted = list_argument_names(model_fn)
        label_specs: Any = None

        def call_model_fn(
            features: Features,
            labels: Features,
            mode: str,
            config: v1.RunConfig | None,
            params: Any = None,
        ) -> v1.EstimatorSpec:
            nonlocal label_specs
            if mode == ModeKeys.INFER:
                labels = tf.nest.map_structure(_make_placeholder, label_specs)
            elif labels is not None:
                label_specs = tf.nest.map_structure(tf.type_spec_from_value, labels)
            if feature_engineering_fn is not None:
                features, labels = feature_engineering_fn(features, labels)
            available = {"mode": mode, "params": params, "config": config}
            arguments = {name: available[name] for name in accepted if name in available}
            return to_estimator_spec(
                model_fn(features, labels, **arguments), mode, self._default_alternative
            )

        super().__init__(call_model_fn, model_dir, apply_tf_config(config), params)


def _make_placeholder(spec: tf.TensorSpec | tf.SparseTensorSpec | None) -> Any:
    if spec is None:
        return None
    if isinstance(spec, tf.SparseTensorSpec):
        return tf.compat.v1.sparse_placeholder(spec.dtype)
    shape = [None, *spec.shape[1:]] if spec.shape.rank else spec.shape
    return tf.compat.v1.placeholder(spec.dtype, shape)


def _limit_to_one_batch(input_fn: Callable[[], Any]) -> Callable[[], Any]:
    """Makes an input function for prediction end after a batch if it returns constant tensors."""

    def limited_fn() -> Any:
        batch = input_fn()
        if isinstance(batch, tf.data.Dataset):
            return batch
        kinds = {operation.type for operation in tf.compat.v1.get_default_graph().get_operations()}
        if any("Iterator" in kind or "Dequeue" in kind for kind in kinds):
            return batch
        return tf.data.Dataset.from_tensors(batch[0] if isinstance(batch, tuple) else batch)

    return limited_fn


def apply_tf_config(config: v1.RunConfig | None) -> Any:
    """Returns a config whose session options are those of the `tf_config` of contrib.learn."""
    if isinstance(config, RunConfig) and config.session_config is None:
        return config.replace(session_config=config.tf_config)
    return config


def _to_metric_spec(item: tuple[Any, Any]) -> tuple[str, MetricSpec]:
    """Returns the name and MetricSpec of a metric.

    The key may be a pair of name and prediction key, the value a function.
    """
    name, spec = item
    name, key = name if isinstance(name, tuple) else (name, None)
    return name, spec if isinstance(spec, MetricSpec) else MetricSpec(spec, key)


def _check_outputs(outputs: Sequence[str], prediction: Mapping[str, Any]) -> list[str]:
    keys = [key for key in prediction if key in outputs]
    if not keys:
        raise ValueError(f"Unknown outputs {outputs}: choose from {list(prediction)}.")
    return keys


def _stack_predictions(found: list[Any]) -> Any:
    if found and isinstance(found[0], dict):
        return {key: np.array([one[key] for one in found]) for key in found[0]}
    return np.array(found)
