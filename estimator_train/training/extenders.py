"""Estimators and optimizers that extend another: more metrics, forwarded features, clipping."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.engine.job import call_with_known, list_argument_names
from estimator_train.engine.types import Predictions, TensorStructure
from estimator_train.estimator import Estimator, EstimatorV2
from estimator_train.estimator_spec import EstimatorSpec, ModeKeys
from estimator_train.estimator_spec.export_outputs import PredictOutput
from estimator_train.run_config import RunConfig

_METRIC_FN_ARGUMENTS = ("features", "labels", "predictions", "config")


def extend_model_fn(
    estimator: Estimator,
    extend: Callable[[EstimatorSpec, Any, Any, Any], EstimatorSpec],
) -> Estimator:
    """Makes an Estimator with the model of another, whose EstimatorSpecs it changes.

    Args:
      estimator: The Estimator whose model_fn, model_dir and config are taken.
      extend: Function of the EstimatorSpec that its model_fn returned, the features, the labels and
        the config, which returns the changed EstimatorSpec.

    Returns:
      The new Estimator, in the same model_dir.
    """

    def model_fn(
        features: TensorStructure, labels: TensorStructure, mode: str, config: RunConfig
    ) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        return extend(spec, features, labels, config)

    estimator_class = EstimatorV2 if isinstance(estimator, EstimatorV2) else Estimator
    return estimator_class(
        model_fn,
        model_dir=estimator.model_dir,
        config=estimator.config,
        warm_start_from=estimator._warm_start_settings,
    )


def add_metrics(estimator: Estimator, metric_fn: Callable[..., Mapping[str, Any]]) -> Estimator:
    """Makes an Estimator that evaluates more metrics.

    Args:
      estimator: The Estimator to extend.
      metric_fn: Function of any of `features`, `labels`, `predictions` and `config`, called in
        evaluation, which returns a dict of metric name to (value, update_op) or to a Keras metric
        that was updated. Its metrics replace those of the same name.

    Returns:
      A new Estimator in the same model_dir.

    Raises:
      TypeError: metric_fn cannot be called.
      ValueError: metric_fn has other arguments.
    """
    unknown = sorted(set(list_argument_names(metric_fn)) - set(_METRIC_FN_ARGUMENTS))
    if unknown:
        raise ValueError(
            f"metric_fn ({metric_fn}) has following not expected args: {unknown}. It can have "
            f"{list(_METRIC_FN_ARGUMENTS)}."
        )

    def extend(
        spec: EstimatorSpec, features: TensorStructure, labels: TensorStructure, config: RunConfig
    ) -> EstimatorSpec:
        if spec.mode != ModeKeys.EVAL:
            return spec
        available = {
            "features": features,
            "labels": labels,
            "predictions": spec.predictions,
            "config": config,
        }
        metrics = call_with_known(metric_fn, available)
        if not isinstance(metrics, Mapping):
            raise TypeError(
                f"metric_fn ({metric_fn}) must return a dict of metrics, but returned {metrics!r}."
            )
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **metrics})

    return extend_model_fn(estimator, extend)


def forward_features(
    estimator: Estimator,
    keys: str | Sequence[str] | None = None,
    sparse_default_values: Mapping[str, Any] | None = None,
) -> Estimator:
    """Makes an Estimator whose predictions contain features, such as the key of an example.

    `predict` yields them, and the `PredictOutput`s of an exported model have them.

    Args:
      estimator: The Estimator to extend; its predictions must be a dict.
      keys: Names of the features; by default all. A feature whose name is also a prediction's
        cannot be forwarded.
      sparse_default_values: Name of a sparse feature to the value that fills it up to a dense one.

    Returns:
      A new Estimator in the same model_dir.

    Raises:
      TypeError: keys are not strings.
    """
    names = [keys] if isinstance(keys, str) else keys
    if names is not None and not (
        isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names)
    ):
        raise TypeError(f"keys must be None, a string or a list of strings. Given: {keys}")
    fill = dict(sparse_default_values or {})

    def extend(
        spec: EstimatorSpec, features: TensorStructure, labels: TensorStructure, config: RunConfig
    ) -> EstimatorSpec:
        if spec.mode != ModeKeys.PREDICT:
            return spec
        forwarded = _find_dense_features(features, names, fill)
        _check_forwarding(spec.predictions, forwarded)
        outputs = {
            name: PredictOutput({**output.outputs, **forwarded})
            if isinstance(output, PredictOutput)
            else output
            for name, output in (spec.export_outputs or {}).items()
        }
        predictions = {**spec.predictions, **forwarded}
        return spec._replace(predictions=predictions, export_outputs=outputs)

    return extend_model_fn(estimator, extend)


def _find_dense_features(
    features: TensorStructure, names: Sequence[str] | None, fill: Mapping[str, Any]
) -> dict[str, tf.Tensor]:
    if not isinstance(features, Mapping):
        raise ValueError(f"Features must be a dict to be forwarded by name. Given: {features}")
    chosen = {}
    for name in features if names is None else names:
        if name not in features:
            raise ValueError(
                f"keys should be exist in features. Key ({name}) is not in features dict. "
                f"features: {sorted(features)}"
            )
        feature = features[name]
        if isinstance(feature, tf.SparseTensor):
            if name not in fill:
                raise ValueError(
                    f"Feature ({name}) is sparse. Give the value that fills it up in "
                    "sparse_default_values."
                )
            feature = tf.sparse.to_dense(feature, default_value=fill[name])
        chosen[name] = feature
    return chosen


def _check_forwarding(predictions: Predictions, forwarded: Mapping[str, tf.Tensor]) -> None:
    if not isinstance(predictions, dict):
        raise ValueError(
            f"Predictions should be a dict to be able to forward features. Given: {predictions}"
        )
    taken = sorted(set(predictions) & set(forwarded))
    if taken:
        raise ValueError(
            f"Cannot forward features {taken}: predictions have these names already. "
            f"predictions: {sorted(predictions)}"
        )


def clip_gradients_by_norm(optimizer: Any, clip_norm: float) -> Any:
    """Makes an optimizer that first scales gradients so that their global norm is within a bound.

    Args:
      optimizer: A `tf.compat.v1.train` or a tf_keras optimizer.
      clip_norm: The largest global norm of the gradients; positive.

    Returns:
      An optimizer of the same kind.

    Raises:
      TypeError: optimizer is not a `tf.compat.v1.train` or tf_keras optimizer.
      ValueError: clip_norm is not positive.
    """
    if not isinstance(clip_norm, tf.Tensor) and clip_norm <= 0:
        raise ValueError(f"clip_norm must be positive, but got {clip_norm}.")
    if isinstance(optimizer, tf.compat.v1.train.Optimizer):
        return _ClippingOptimizer(optimizer, clip_norm)
    if isinstance(optimizer, (tf_keras.optimizers.Optimizer, tf_keras.optimizers.legacy.Optimizer)):
        config = {**optimizer.get_config(), "global_clipnorm": clip_norm}
        return type(optimizer).from_config(config)
    raise TypeError(
        "optimizer must be an instance of a tf.compat.v1.train or tf_keras optimizer, given: "
        f"{optimizer!r}"
    )


class _ClippingOptimizer(tf.compat.v1.train.Optimizer):
    """Optimizer of TensorFlow 1 that clips gradients for another optimizer."""

    def __init__(
        self, optimizer: tf.compat.v1.train.Optimizer, clip_norm: float | tf.Tensor
    ) -> None:
        super().__init__(use_locking=False, name=f"Clipping{optimizer.get_name()}")
        self._optimizer = optimizer
        self._clip_norm = clip_norm

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[tf.Tensor, tf.Variable]], *args: Any, **kwargs: Any
    ) -> tf.Operation:
        gradients, variables = zip(*grads_and_vars, strict=True)
        clipped, _ = tf.clip_by_global_norm(gradients, self._clip_norm)
        return self._optimizer.apply_gradients(
            list(zip(clipped, variables, strict=True)), *args, **kwargs
        )

    def get_slot(self, var: tf.Variable, name: str) -> Any:
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        return self._optimizer.get_slot_names()

    def variables(self) -> list[tf.Variable]:
        return self._optimizer.variables()
